// The files of the project, for the scripts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the absolute path of a file. */
export const path = (...names) => join(import.meta.dirname, '..', ...names);
export const read = (name) => readFileSync(path(name), 'utf8');
export const toJson = (value) => `${JSON.stringify(value, undefined, 2)}\n`;
export const manifest = JSON.parse(read('package.json'));

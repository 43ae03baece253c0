// The files of the project, for the scripts.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the absolute path of a file. */
export const path = (...names) => join(import.meta.dirname, '..', ...names);
export const read = (name) => readFileSync(path(name), 'utf8');
export const toJson = (value) => `${JSON.stringify(value, undefined, 2)}\n`;
export const manifest = JSON.parse(read('package.json'));

/** Reads a file of scripts/templates/ with a value in place of each `{{name}}`. @throws {Error} if there is no such value */
export const fill = (template, values) =>
  read(join('scripts/templates', template)).replace(/\{\{([\w-]+)\}\}/g, (_all, name) => {
    if (values[name] === undefined) throw new Error(`${template}: no value for ${name}`);
    return values[name];
  });

/** Writes a generated file. With --check, fails instead if the file is out of date. */
export function generate(name, text) {
  if (existsSync(path(name)) && read(name) === text) return;
  if (process.argv.includes('--check')) {
    process.stderr.write(`${name} is out of date: npm run fix\n`);
    process.exitCode = 1;
  } else writeFileSync(path(name), text);
}

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { path, read } from './project.js';

/** Writes a generated file. With --check, fails instead if the file is out of date. */
export function generate(name, text) {
  if (existsSync(path(name)) && read(name) === text) return;
  if (process.argv.includes('--check')) {
    process.stderr.write(`${name} is out of date: npm run fix\n`);
    process.exitCode = 1;
    return;
  }
  mkdirSync(dirname(path(name)), { recursive: true });
  writeFileSync(path(name), text);
}

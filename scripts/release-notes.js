// Prints the section of CHANGELOG.md about the version in package.json: the notes of its release.
import { readFileSync } from 'node:fs';

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');
const { version } = JSON.parse(read('package.json'));
const sections = read('CHANGELOG.md').split(/^## /m);
const section = sections.find((each) => each.split(/\s/, 1)[0] === version);
const text = section?.slice(section.indexOf('\n')).trim() ?? '';
if (text === '') throw new Error(`CHANGELOG.md has no section '## ${version}'`);
process.stdout.write(`${text}\n`);

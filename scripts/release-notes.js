// Prints the section of CHANGELOG.md about the version in package.json: the notes of its release.
import { manifest, read } from './project.js';

const sections = read('CHANGELOG.md').split(/^## /m);
const unreleased = sections.find((each) => /^Unreleased\b/i.test(each));
if (unreleased?.slice(unreleased.indexOf('\n')).trim())
  throw new Error(`CHANGELOG.md has notes under 'Unreleased': move them to '## ${manifest.version}'`);
const section = sections.find((each) => each.split(/\s/, 1)[0] === manifest.version);
const text = section?.slice(section.indexOf('\n')).trim() ?? '';
if (text === '') throw new Error(`CHANGELOG.md has no section '## ${manifest.version}'`);
process.stdout.write(`${text}\n`);

// Writes the version in package.json into the other files that name it. `npm version` runs this script.
import { writeFileSync } from 'node:fs';
import { manifest, path, read } from './project.js';

for (const file of ['server.json', 'plugin/.claude-plugin/plugin.json'])
  writeFileSync(path(file), read(file).replaceAll(/("version": )"[^"]*"/g, `$1"${manifest.version}"`));

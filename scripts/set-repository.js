// Writes the address of the repository into the files that a release needs: node scripts/set-repository.js <owner>/<name>
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [, , given = ''] = process.argv;
const [, owner, name] = /^([\w-]+)\/([\w.-]+)$/.exec(given) ?? [];
if (owner === undefined) throw new Error(`expected <owner>/<name>, got '${given}'`);
const home = `https://github.com/${owner}/${name}`;
/** Name of the server in the MCP registry, which requires the same name in the npm package, and the owner as GitHub spells it. */
const mcpName = `io.github.${owner}/restaurant`;

function edit(file, change) {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
  const value = change(JSON.parse(readFileSync(path, 'utf8')));
  writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
}

edit('package.json', (manifest) => ({
  ...manifest,
  mcpName,
  homepage: `${home}#readme`,
  bugs: `${home}/issues`,
  repository: { type: 'git', url: `git+${home}.git` },
}));
edit('server.json', (server) => ({
  ...server,
  name: mcpName,
  repository: { url: home, source: 'github' },
}));
edit('plugin/.claude-plugin/plugin.json', (plugin) => ({ ...plugin, homepage: home, repository: home }));

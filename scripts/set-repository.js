// Writes the address of the repository into the files that a release needs: node scripts/set-repository.js <owner>/<name>
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [, , given = ''] = process.argv;
const [, owner, name] = /^([\w-]+)\/([\w.-]+)$/.exec(given) ?? [];
if (owner === undefined) throw new Error(`expected <owner>/<name>, got '${given}'`);
const home = `https://github.com/${owner}/${name}`;
/** Name of the server in the MCP registry, which requires the same name in the npm package, and the owner as GitHub spells it. */
const mcpName = `io.github.${owner}/restaurant`;

function editText(file, change) {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}

const edit = (file, change) =>
  editText(file, (text) => `${JSON.stringify(change(JSON.parse(text)), undefined, 2)}\n`);

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
editText('scripts/install.sh', (text) => text.replace(/^REPOSITORY=.*$/m, `REPOSITORY=${owner}/${name}`));
edit('plugin/.claude-plugin/plugin.json', (plugin) => ({ ...plugin, homepage: home, repository: home }));

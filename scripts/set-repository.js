// Writes the address of the repository into the files that a release needs: node scripts/set-repository.js <owner>/<name>
import { writeFileSync } from 'node:fs';
import { path, read, toJson } from './project.js';

const [, , given = ''] = process.argv;
const [, owner, name] = /^([\w-]+)\/([\w.-]+)$/.exec(given) ?? [];
if (owner === undefined) throw new Error(`expected <owner>/<name>, got '${given}'`);
const home = `https://github.com/${owner}/${name}`;
/** Name of the server in the MCP registry, which requires the same name in the npm package, and the owner as GitHub spells it. */
const mcpName = `io.github.${owner}/restaurant`;
const repository = { type: 'git', url: `git+${home}.git` };

const CHANGES = {
  'package.json': { mcpName, homepage: `${home}#readme`, bugs: `${home}/issues`, repository },
  'server.json': { name: mcpName, repository: { url: home, source: 'github' } },
  'plugin/.claude-plugin/plugin.json': { homepage: home, repository: home },
};
for (const [file, change] of Object.entries(CHANGES))
  writeFileSync(path(file), toJson({ ...JSON.parse(read(file)), ...change }));
const installer = read('scripts/install.sh').replace(/^REPOSITORY=.*$/m, `REPOSITORY=${owner}/${name}`);
writeFileSync(path('scripts/install.sh'), installer);

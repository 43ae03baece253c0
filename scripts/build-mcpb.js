// Creates dist/standalone/restaurant.mcpb, the bundle that Claude Desktop installs (MCP Bundles): the program for Node, which
// Claude Desktop includes, and a manifest that requests the key and the address from the user. The official tool validates
// and packs it.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './build.js';
import { manifest, path, toJson } from './project.js';

const MCPB = '@anthropic-ai/mcpb@2.1.2';
const temporary = mkdtempSync(join(tmpdir(), 'restaurant-mcpb-'));
const content = join(temporary, 'content');
const packed = join(temporary, 'restaurant.mcpb');
const installed = join(temporary, 'installed');
const { version, description, license } = manifest;

/** Returns the command that starts the server of the bundle. */
const serverIn = (folder, RESTAURANT_BASE_URL, RESTAURANT_API_KEY) => ({
  command: 'node',
  args: [`${folder}/bin/restaurant.js`, 'mcp'],
  env: { RESTAURANT_BUNDLE: '1', RESTAURANT_BASE_URL, RESTAURANT_API_KEY },
});

const BUNDLE = {
  manifest_version: '0.3',
  name: 'restaurant',
  display_name: 'Restaurant data',
  version,
  description,
  author: { name: 'The authors of restaurant-data-cli' },
  license,
  server: {
    type: 'node',
    entry_point: 'bin/restaurant.js',
    mcp_config: serverIn(`\${__dirname}`, `\${user_config.base_url}`, `\${user_config.api_key}`),
  },
  tools: [
    { name: 'find_restaurant', description: 'Search restaurants by name and city.' },
    { name: 'lookup_restaurant', description: 'Show the details of one restaurant.' },
  ],
  tools_generated: true,
  user_config: {
    base_url: {
      type: 'string',
      title: 'Service address',
      description: 'Base URL of the restaurant data service, such as https://api.example.com',
      required: true,
    },
    api_key: {
      type: 'string',
      title: 'API key',
      description: 'Your key from the developer portal; it starts with sk_service_',
      sensitive: true,
      required: true,
    },
  },
  compatibility: { runtimes: { node: manifest.engines.node } },
};

const mcpb = (...words) =>
  execFileSync('npm', ['exec', '--yes', `--package=${MCPB}`, '--', 'mcpb', ...words], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });

/** Starts the server of the installed bundle and checks that it responds. */
function startServer() {
  const { command, args, env } = serverIn(installed, 'http://127.0.0.1:9', 'sk_service_demo_free');
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'build', version } };
  const answer = execFileSync(command, args, {
    env: { PATH: process.env.PATH, HOME: temporary, ...env },
    input: `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`,
    encoding: 'utf8',
  });
  process.stdout.write(`the server of the bundle answers as ${JSON.parse(answer).result.serverInfo.name}\n`);
}

try {
  const filter = (each) => !each.startsWith(path('dist/standalone'));
  for (const name of ['bin', 'dist', 'LICENSE'])
    cpSync(path(name), join(content, name), { recursive: true, filter });
  writeFileSync(join(content, 'manifest.json'), toJson(BUNDLE));
  mcpb('pack', content, packed);
  mcpb('unpack', packed, installed);
  startServer();
  mkdirSync(path('dist/standalone'), { recursive: true });
  cpSync(packed, path('dist/standalone/restaurant.mcpb'));
} finally {
  rmSync(temporary, { recursive: true });
}

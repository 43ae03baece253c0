// Creates dist/standalone/restaurant.mcpb, the bundle that Claude Desktop installs (MCP Bundles): the program for Node, which
// Claude Desktop includes, and a manifest that requests the key and the address from the user. The official tool validates
// and packs it.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import './build.js';

const MCPB = '@anthropic-ai/mcpb@2.1.2';
const root = fileURLToPath(new URL('..', import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'restaurant-mcpb-'));
const content = join(temporary, 'content');
const packed = join(temporary, 'restaurant.mcpb');
const installed = join(temporary, 'installed');
const bundle = join(root, 'dist/standalone/restaurant.mcpb');
const { version, description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Returns a placeholder of the manifest. */
const value = (name) => `\${${name}}`;

const manifest = {
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
    mcp_config: {
      command: 'node',
      args: [`${value('__dirname')}/bin/restaurant.js`, 'mcp'],
      env: {
        RESTAURANT_BUNDLE: '1',
        RESTAURANT_BASE_URL: value('user_config.base_url'),
        RESTAURANT_API_KEY: value('user_config.api_key'),
      },
    },
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
  compatibility: { runtimes: { node: '>=20.19.0' } },
};

mkdirSync(content);
writeFileSync(join(content, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
const filter = (path) => !path.startsWith(join(root, 'dist/standalone'));
for (const name of ['bin', 'dist', 'LICENSE']) {
  cpSync(join(root, name), join(content, name), { recursive: true, filter });
}

const mcpb = (...words) =>
  execFileSync('npm', ['exec', '--yes', `--package=${MCPB}`, '--', 'mcpb', ...words], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
/** Starts the server of the installed bundle with the command of the manifest and checks that it responds. */
function startServer() {
  const fill = (text) =>
    text
      .replace(value('__dirname'), installed)
      .replace(value('user_config.base_url'), 'http://127.0.0.1:9')
      .replace(value('user_config.api_key'), 'sk_service_demo_free');
  const { command, args, env } = manifest.server.mcp_config;
  const filled = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, fill(value)]));
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'build', version } };
  const answer = execFileSync(command, args.map(fill), {
    env: { PATH: process.env.PATH, HOME: temporary, ...filled },
    input: `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`,
    encoding: 'utf8',
  });
  const { name } = JSON.parse(answer).result.serverInfo;
  process.stdout.write(`the server of the bundle answers as ${name}\n`);
}

try {
  mcpb('pack', content, packed);
  mcpb('unpack', packed, installed);
  startServer();
  mkdirSync(dirname(bundle), { recursive: true });
  cpSync(packed, bundle);
  console.log(`written to ${bundle}`);
} finally {
  rmSync(temporary, { recursive: true });
}

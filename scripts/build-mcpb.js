// Creates dist/standalone/restaurant.mcpb, the bundle that Claude Desktop installs (MCP Bundles): the program for Node, which
// Claude Desktop includes, and a manifest that requests the key and the address from the user. The official tool validates
// and packs it.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './build.js';
import { fill, manifest, path, toJson } from './project.js';

const MCPB = '@anthropic-ai/mcpb@2.1.2';
const temporary = mkdtempSync(join(tmpdir(), 'restaurant-mcpb-'));
const content = join(temporary, 'content');
const packed = join(temporary, 'restaurant.mcpb');
const installed = join(temporary, 'installed');
const bundle = JSON.parse(fill('mcpb.json', { ...manifest, node: manifest.engines.node }));

const mcpb = (...words) =>
  execFileSync('npm', ['exec', '--yes', `--package=${MCPB}`, '--', 'mcpb', ...words], {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });

/** Starts the server of the installed bundle and checks that it responds. */
function startServer() {
  const { command, args, env } = bundle.server.mcp_config;
  const clientInfo = { name: 'build', version: manifest.version };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const settings = { RESTAURANT_BASE_URL: 'http://127.0.0.1:9', RESTAURANT_API_KEY: 'sk_service_demo_free' };
  const words = args.map((word) => word.replace(`\${__dirname}`, installed));
  const answer = execFileSync(command, words, {
    env: { PATH: process.env.PATH, HOME: temporary, ...env, ...settings },
    input: `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`,
    encoding: 'utf8',
  });
  process.stdout.write(`the server of the bundle answers as ${JSON.parse(answer).result.serverInfo.name}\n`);
}

try {
  const filter = (each) => !each.startsWith(path('dist/standalone'));
  for (const name of ['bin', 'dist', 'LICENSE'])
    cpSync(path(name), join(content, name), { recursive: true, filter });
  writeFileSync(join(content, 'manifest.json'), toJson(bundle));
  mcpb('pack', content, packed);
  mcpb('unpack', packed, installed);
  startServer();
  mkdirSync(path('dist/standalone'), { recursive: true });
  cpSync(packed, path('dist/standalone/restaurant.mcpb'));
} finally {
  rmSync(temporary, { recursive: true });
}

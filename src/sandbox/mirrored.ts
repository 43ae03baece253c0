import type { Headers } from './protocol.ts';
import { isObject, RpcError } from './rpc.ts';
import { TOOLS } from './tool-list.ts';
import { HEADER_MISMATCH } from './versions.ts';

interface Mirrored {
  readonly method: string;
  readonly params: unknown;
  readonly version: unknown;
  readonly headers: Headers;
}

/** Methods whose `Mcp-Name` header mirrors a field of the params. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/**
 * Checks that the headers of a modern request say what its body says.
 * @throws {RpcError} -32020 naming the header.
 */
export function checkMirroredHeaders({ method, params, version, headers }: Mirrored): void {
  const body = isObject(params) ? params : {};
  const nameField = NAMED_BY[method];
  check(headers, 'MCP-Protocol-Version', version);
  check(headers, 'Mcp-Method', method);
  if (nameField !== undefined) check(headers, 'Mcp-Name', body[nameField]);
  if (method === 'tools/call') checkParams(body, headers);
}

/** Arguments that a schema marks with `x-mcp-header` stand in a header too; null and absent ones in none. */
function checkParams({ name, arguments: args }: Readonly<Record<string, unknown>>, headers: Headers): void {
  const schema = TOOLS.find((tool) => tool.name === name)?.inputSchema;
  const properties = isObject(schema?.properties) ? schema.properties : {};
  for (const [argument, property] of Object.entries(properties)) {
    const header = isObject(property) ? property['x-mcp-header'] : undefined;
    if (typeof header !== 'string') continue;
    const value = isObject(args) ? args[argument] : undefined;
    check(headers, `Mcp-Param-${header}`, value ?? undefined);
  }
}

function check(headers: Headers, name: string, expected: unknown): void {
  const sent = headers[name.toLowerCase()];
  const decoded = sent === undefined ? undefined : decodeHeader(sent);
  const wanted = expected === undefined ? undefined : String(expected);
  if (decoded === wanted) return;
  const problem = sent === undefined ? 'is missing' : 'does not say what the body says';
  throw new RpcError(HEADER_MISMATCH, `Header mismatch: ${name} ${problem}`, { header: name, problem }, 400);
}

/** The value of a header: as it is, or `=?base64?<UTF-8 in base64>?=`. */
function decodeHeader(value: string): string {
  const encoded = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/.exec(
    value,
  )?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString('utf8');
}

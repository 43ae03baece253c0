import type { JsonObject } from '../../../src/util/json.ts';
/** Returns messages as lines, as a host writes them. */
export const lines = (...messages: unknown[]): string =>
  messages.map((message) => `${JSON.stringify(message)}\n`).join('');

/** Parses the messages that the bridge wrote; every line must be one. */
export const messagesIn = (stdout: string): JsonObject[] =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

/** Returns the message with this id. */
export function answerTo(stdout: string, id: unknown): JsonObject {
  const found = messagesIn(stdout).filter((message) => message.id === id);
  if (found.length !== 1) throw new Error(`${found.length} answers to ${String(id)} in: ${stdout}`);
  return found[0] ?? {};
}

export const request = (id: unknown, method: string, params: JsonObject = {}): JsonObject => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

export const INITIALIZE = request('init', 'initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
});
export const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
export const LIST = request('list', 'tools/list');

/** Returns a search; `extra` is added to its params. */
export const find = (id: unknown, extra: JsonObject = {}): JsonObject =>
  request(id, 'tools/call', {
    name: 'find_restaurant',
    arguments: { name: 'Nopa', city: 'San Francisco' },
    ...extra,
  });

import { describe, expect, it } from 'vitest';
import { toolText, useScriptedService } from '../helpers/answers.ts';
import { KEY, useProgram } from './support.ts';

const service = useScriptedService(
  toolText(JSON.stringify({ status: 'ok', key: KEY, results: [], total_matches: 0 })),
);
const { run } = useProgram(() => service.url);

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
});
const message = (fields: object) => JSON.stringify({ jsonrpc: '2.0', ...fields });
const call = (id: unknown, name = 'find_restaurant') =>
  message({ id, method: 'tools/call', params: { name, arguments: { name: 'Nopa', city: 'SF' } } });

/** Sends lines to a bridge with options, then a ping that must get a response. @returns the messages of the bridge */
async function bridge(
  options: readonly string[],
  ...lines: readonly string[]
): Promise<Record<string, unknown>[]> {
  const stdin = [INITIALIZE, ...lines, message({ id: 'last', method: 'ping' }), ''].join('\n');
  const env = { RESTAURANT_PER_MINUTE: '0', RESTAURANT_PER_DAY: '0' };
  const { stdout } = await run(['mcp', '--protocol', 'bare', ...options], { env, stdin, exit: 0 });
  const messages = stdout
    .trim()
    .split('\n')
    .flatMap((line): Record<string, unknown>[] => [JSON.parse(line)].flat());
  expect(messages).toContainEqual({ jsonrpc: '2.0', id: 'last', result: {} });
  return messages;
}

const ODD_NAMES = ['__proto__', 'constructor', 'a\r\nX: y', '\u0000', '\ud800'];
const ODD_IDS = [{}, [], true, 1e300, '__proto__', null];
const PINGS = Array.from({ length: 1001 }, (_, id) => message({ id, method: 'ping' }));
const cancel = (requestId: unknown) => message({ method: 'notifications/cancelled', params: { requestId } });

describe('the bridge survives', () => {
  it.each<[string, string[]]>([
    [
      'lines that are not messages',
      ['garbage', '\u0000', '\ufffd', '[]', 'null', '1', '""', '{}', '{"jsonrpc":"2.0"}'],
    ],
    ['odd ids', [...ODD_IDS.map((id) => call(id)), '{"jsonrpc":"2.0","id":1e400,"method":"ping"}']],
    ['odd methods', ODD_NAMES.map((method, id) => message({ id, method }))],
    ['odd tools', ODD_NAMES.map((name, id) => call(id, name))],
    ['100,000 levels', ['['.repeat(100_000), `{"a":${'['.repeat(100_000)}`]],
    ['a line of 21 MiB', [`"${'x'.repeat(21 * 1024 * 1024)}"`]],
    ['a batch of 1,001', [`[${PINGS.join(',')}]`]],
    ['equal ids', [call(7), call(7), call(7)]],
    ['unrequested results', [message({ id: 1, result: {} })]],
    ['unrequested errors', [message({ id: 9, error: { code: 1, message: 'x' } })]],
    ['cancellation of odd ids', ODD_IDS.map(cancel)],
    [
      'odd cursors',
      ['', 'x', '__proto__'].map((cursor, id) => message({ id, method: 'tools/list', params: { cursor } })),
    ],
  ])('%s', async (_name, lines) => {
    await bridge([], ...lines);
  });

  it('3,000 calls at once', async () => {
    const messages = await bridge([], ...Array.from({ length: 3000 }, (_, id) => call(id + 1)));
    expect(new Set(messages.map(({ id }) => id)).size).toBe(3002);
  });
});

it('the bridge masks the key that the service repeats', async () => {
  const messages = await bridge([], call(1));
  expect(JSON.stringify(messages.find(({ id }) => id === 1))).toContain('x9z2');
});

describe('--max-chars 1000 --max-results 5 bounds what the model receives of', () => {
  const many = Array.from({ length: 5000 }, (_, index) => ({ service_id: `id-${index}`, name: 'Nopa' }));
  const text = (output: unknown) => ({ type: 'text', text: JSON.stringify(output) });
  const junk = 'x'.repeat(1e6);

  it.each<[string, object]>([
    ['a long key beside the results', { content: [text({ junk, results: many })] }],
    ['a list before the results', { content: [text({ warnings: many, results: many })] }],
    ['5,000 blocks', { content: Array(5000).fill(text('x'.repeat(900))) }],
    ['5,000 empty blocks', { content: Array(5000).fill({ type: 'text', text: '' }) }],
    ['an embedded resource', { content: [{ type: 'resource', resource: { uri: 'a:', text: junk } }] }],
    ['an error', { isError: true, content: [{ type: 'text', text: junk }] }],
    ['unknown keys', { content: [text({ results: many })], _meta: { junk }, other: junk }],
    ['a block with more keys', { content: [{ ...text({ results: many }), annotations: { junk } }] }],
    ['a structured result alone', { content: [], structuredContent: { results: many } }],
    ['one long record', { content: [text({ results: [{ name: junk }] })] }],
  ])('%s', async (_name, result) => {
    service.answer(({ id }, response) => response.end(JSON.stringify({ jsonrpc: '2.0', id, result })));
    const messages = await bridge(['--max-chars', '1000', '--max-results', '5'], call(1));
    const answer = JSON.stringify(messages.find(({ id }) => id === 1));
    expect(answer.length).toBeLessThan(2500);
    expect(answer).toMatch(/Cut: |Left out: /);
  });

  it('a JSON-RPC error', async () => {
    const error = { code: -32000, message: junk, data: { junk } };
    service.answer(({ id }, response) => response.end(JSON.stringify({ jsonrpc: '2.0', id, error })));
    const messages = await bridge(['--max-chars', '1000'], call(1));
    expect(JSON.stringify(messages.find(({ id }) => id === 1)).length).toBeLessThan(2500);
  });
});

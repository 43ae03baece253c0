import type { ElicitResult } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { legacyServer, modernServer, useEndpoint } from '../../helpers/asking-servers.ts';
import { UNPACED } from '../../helpers/enrich.ts';
import { newHome, runCli } from '../../helpers/program.ts';
import { listenerServer } from '../../helpers/servers.ts';
import { PAID } from '../../helpers/service.ts';
import { connectHost, type HostOptions, useInstalled } from './installed.ts';

const installed = useInstalled();
const BOOK = { name: 'book', arguments: {} };

function useServer(listener: Parameters<typeof useEndpoint>[0]) {
  const endpoint = useEndpoint(listener);
  const connect = (mode: HostOptions['mode'], answer?: HostOptions['answer']) =>
    connectHost(installed, {
      mode,
      answer,
      args: ['--endpoint', endpoint()],
      env: { ...newHome().env, ...UNPACED, RESTAURANT_API_KEY: PAID },
    });
  return { endpoint, connect };
}

/** Calls the tool, whose failure is a result or a JSON-RPC error. */
const failureOf = (client: Awaited<ReturnType<typeof connectHost>>): Promise<string> =>
  client.callTool(BOOK).then(
    ({ isError, content }) => (isError === true ? JSON.stringify(content) : 'no error'),
    (error: unknown) => String(error),
  );

describe('input that a server of 2026-07-28 requests', () => {
  const { connect } = useServer(modernServer());

  it('reaches the person at a host of 2026-07-28, 25 times', async () => {
    const asked: string[] = [];
    const answer = (message: string): ElicitResult => {
      asked.push(message);
      return { action: 'accept', content: { guest: `Ada ${asked.length}` } };
    };
    const client = await connect('auto', answer);
    for (let round = 1; round <= 25; round += 1) {
      const { content } = await client.callTool(BOOK);
      expect(content).toEqual([{ type: 'text', text: `Booked for Ada ${round}` }]);
    }
    expect(asked).toEqual(Array(25).fill('A table for whom?'));
  });

  it('may be declined', async () => {
    const client = await connect('auto', () => ({ action: 'decline' }));
    expect((await client.callTool(BOOK)).content).toEqual([{ type: 'text', text: 'decline' }]);
  });

  it('is an error at a host that cannot ask, and at an older one', async () => {
    const able = () => expect.unreachable('the host was asked');
    expect(await failureOf(await connect('auto'))).toContain('elicitation');
    expect(await failureOf(await connect('legacy', able))).toContain('elicitation');
  });
});

describe('input that a server of 2025-11-25 requests', () => {
  const { connect } = useServer(legacyServer());

  it.each(['legacy', 'auto'] as const)('is an error at a host in mode %s', async (mode) => {
    const client = await connect(mode, () => expect.unreachable('the host was asked'));
    expect(await failureOf(client)).toContain('the client cannot answer elicitation/create');
  });
});

it.each([
  ['2026-07-28', modernServer()],
  ['2025-11-25', legacyServer()],
])('call ends with an error when a server of %s requests input', async (_version, listener) => {
  const server = await listenerServer(listener);
  const env = { ...newHome().env, RESTAURANT_API_KEY: PAID };
  const run = await runCli(['call', 'book', '--endpoint', `${server.origin}/mcp`, '--json'], { env });
  expect(run).toMatchObject({ exit: 7, stdout: '' });
  expect(run.stderr).toContain('elicitation');
  await server.close();
});

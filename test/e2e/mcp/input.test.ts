import type { ElicitResult } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { legacyServer, modernServer, useEndpoint } from '../../helpers/asking-servers.ts';
import { UNPACED } from '../../helpers/enrich.ts';
import { newHome } from '../../helpers/program.ts';
import { PAID } from '../../helpers/service.ts';
import { connectHost, type HostOptions, useInstalled } from './installed.ts';

const installed = useInstalled();

const SERVERS = [
  ['2026-07-28', modernServer()],
  ['2025-11-25', legacyServer()],
] as const;

describe.each(SERVERS)('input that a server of %s requests', (_version, listener) => {
  const endpoint = useEndpoint(listener);
  const book = { name: 'book', arguments: {} };
  const connect = (mode: HostOptions['mode'], answer?: HostOptions['answer']) =>
    connectHost(installed, {
      mode,
      answer,
      args: ['--endpoint', endpoint()],
      env: { ...newHome().env, ...UNPACED, RESTAURANT_API_KEY: PAID },
    });

  it.each(['legacy', 'auto'] as const)('reaches the person at a host in mode %s, 25 times', async (mode) => {
    const asked: string[] = [];
    const answer = (message: string): ElicitResult => {
      asked.push(message);
      return { action: 'accept', content: { guest: `Ada ${asked.length}` } };
    };
    const client = await connect(mode, answer);
    for (let round = 1; round <= 25; round += 1) {
      const { content } = await client.callTool(book);
      expect(content).toEqual([{ type: 'text', text: `Booked for Ada ${round}` }]);
    }
    expect(asked).toEqual(Array(25).fill('A table for whom?'));
  });

  it.each(['legacy', 'auto'] as const)('may be declined at a host in mode %s', async (mode) => {
    const client = await connect(mode, () => ({ action: 'decline' }));
    expect((await client.callTool(book)).content).toEqual([{ type: 'text', text: 'decline' }]);
  });

  it.each(['legacy', 'auto'] as const)('is an error at a host in mode %s that cannot ask', async (mode) => {
    const client = await connect(mode);
    const outcome = await client.callTool(book).then(
      ({ isError }) => isError,
      (error: unknown) => error instanceof Error,
    );
    expect(outcome).toBe(true);
  });
});

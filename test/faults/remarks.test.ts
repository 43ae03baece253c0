import { describe, expect, it } from 'vitest';
import { runCli } from '../helpers/program.ts';
import { envelope, events, httpResponse, KEY, type Reply } from './fault.ts';
import { serveFault } from './server.ts';

async function search(talk: Reply, ...options: string[]) {
  const server = await serveFault({ reply: talk });
  const env = {
    RESTAURANT_BASE_URL: `http://127.0.0.1:${server.port}`,
    RESTAURANT_API_KEY: KEY,
    RESTAURANT_MAX_AGE: '0',
  };
  const transcript = await runCli(['find', 'Nopa', '--city', 'SF', '--json', ...options], { env });
  await server.close();
  return transcript;
}

describe('what is taken although it is odd is told with --verbose alone', () => {
  const changed =
    (change: (text: string) => string | Uint8Array, type?: string): Reply =>
    ({ id }) => {
      const body = Buffer.from(change(envelope(id)));
      return Buffer.concat([
        Buffer.from(httpResponse('x'.repeat(body.length), type === undefined ? {} : { type })).subarray(
          0,
          -body.length,
        ),
        body,
      ]);
    };

  it.each<[string, Reply, string]>([
    ['plain text', changed((text) => text, 'text/plain'), 'is labeled text/plain, but is JSON'],
    ['no type', changed((text) => text, ''), 'has no Content-Type, but is JSON'],
    [
      'a stream called JSON',
      ({ id }) => httpResponse(`data: ${envelope(id)}\n\n`),
      'is labeled application/json, but is an event stream',
    ],
    ['an invalid byte', changed((text) => Buffer.from(text.replace('Nopa', 'Nop\xe9'), 'latin1')), 'U+FFFD'],
  ])('%s', async (_name, talk, told) => {
    const quiet = await search(talk);
    const verbose = await search(talk, '--verbose');
    expect(quiet).toMatchObject({ exit: 0, stderr: '' });
    expect(verbose.stdout).toBe(quiet.stdout);
    expect(verbose.stderr).toMatch(/^\* /m);
    expect(verbose.stderr).toContain(told);
  });

  it.each<[string, Reply]>([
    ['JSON', ({ id }) => httpResponse(envelope(id), { type: 'application/json; charset=utf-8' })],
    ['a kind of JSON', ({ id }) => httpResponse(envelope(id), { type: 'application/problem+json' })],
    ['a stream', ({ id }) => events(`data: ${envelope(id)}\n\n`)],
  ])('nothing is odd about %s', async (_name, talk) => {
    expect((await search(talk, '--verbose')).stderr).not.toMatch(/^\* /m);
  });
});

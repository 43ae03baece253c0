import { describe, expect, it } from 'vitest';
import { runCli } from '../helpers/program.ts';
import { envelope, events, httpResponse, type Reply } from './fault.ts';
import { serveFault } from './server.ts';
import { SEARCH } from './suite.ts';

async function search(reply: Reply, ...options: string[]) {
  const server = await serveFault({ reply });
  const transcript = await runCli([...SEARCH, '--json', ...options], { env: server.env });
  await server.close();
  return transcript;
}

describe('a response that is accepted with a warning under --verbose', () => {
  it.each<[string, Reply, string]>([
    [
      'JSON labeled as plain text',
      ({ id }) => httpResponse(envelope(id), { type: 'text/plain' }),
      'is labeled text/plain, but is JSON',
    ],
    [
      'JSON without a Content-Type',
      ({ id }) => httpResponse(envelope(id), { type: '' }),
      'has no Content-Type, but is JSON',
    ],
    [
      'a stream labeled JSON',
      ({ id }) => httpResponse(`data: ${envelope(id)}\n\n`),
      'is labeled application/json, but is an event stream',
    ],
    [
      'an invalid byte',
      ({ id }) => Buffer.from(httpResponse(envelope(id)).replace('Nopa', 'Nop\xe9'), 'latin1'),
      'U+FFFD',
    ],
  ])('%s', async (_name, reply, warning) => {
    const quiet = await search(reply);
    const verbose = await search(reply, '--verbose');
    expect(quiet).toMatchObject({ exit: 0, stderr: '' });
    expect(verbose.stdout).toBe(quiet.stdout);
    expect(verbose.stderr).toMatch(/^\* /m);
    expect(verbose.stderr).toContain(warning);
  });

  it.each<[string, Reply]>([
    ['JSON', ({ id }) => httpResponse(envelope(id), { type: 'application/json; charset=utf-8' })],
    [
      'a type with the suffix +json',
      ({ id }) => httpResponse(envelope(id), { type: 'application/problem+json' }),
    ],
    ['a stream', ({ id }) => events(`data: ${envelope(id)}\n\n`)],
  ])('%s causes no warning', async (_name, reply) => {
    expect((await search(reply, '--verbose')).stderr).not.toMatch(/^\* /m);
  });
});

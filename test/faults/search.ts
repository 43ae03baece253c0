import { afterAll, beforeAll } from 'vitest';
import type { Protocol } from '../../src/client/mcp/protocol.ts';
import { createClient } from '../../src/client/restaurant.ts';
import { endpointAt, optionsFor } from '../helpers/client.ts';
import { good, type Reply } from './fault.ts';
import { type FaultServer, serveFault } from './server.ts';

/** Starts a server around the tests of a file. @returns a function that searches once, with this reply to all requests */
export function useSearch() {
  let reply: Reply = good;
  let server: FaultServer | undefined;
  beforeAll(async () => {
    server = await serveFault({ reply: (request) => reply(request) });
  });
  afterAll(() => server?.close());
  return async (next: Reply, protocol: Protocol = 'bare') => {
    if (server === undefined) throw new Error('the server is not running');
    reply = next;
    const before = server.requests.length;
    const client = createClient(optionsFor(endpointAt(server.origin), { protocol }));
    const ended = await client.find({ name: 'Nopa', city: 'SF' }).catch((error: unknown) => error);
    await client.close();
    return { ended, sent: server.requests.length - before };
  };
}

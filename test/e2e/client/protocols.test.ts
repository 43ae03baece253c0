import { describe, expect, it } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import type { DetectedProtocol, Protocol, ProtocolMemory } from '../../../src/client/mcp/protocol.ts';
import type { Client } from '../../../src/client/restaurant.ts';
import { AppError, KIND_OF } from '../../../src/errors.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { VERSION } from '../../../src/version.ts';
import type { Reply, RpcRequest } from '../../helpers/answers.ts';
import { FOUND, failure, toolReply } from '../../helpers/client.ts';
import { type Exchange, FIND, output, scripted, status } from '../../helpers/script.ts';
import { exchanges, named, REGION, split } from './exchanges.ts';

/** Marks in a log that the protocol was forgotten. */
const FORGOTTEN = { era: 'forgotten' };
const STORED: Readonly<Record<string, DetectedProtocol>> = {
  bare: { era: 'bare' },
  legacy: { era: 'legacy', version: '2025-11-25' },
  modern: { era: 'modern', version: '2026-07-28' },
  later: { era: 'later' },
  forgotten: FORGOTTEN,
};

const CALLS: Readonly<Record<string, (client: Client) => Promise<unknown>>> = {
  find: (client) => client.find({ name: 'Nopa', city: 'SF' }),
  lookup: (client) => client.lookup('r-1', 'basic'),
  call: (client) => client.callTool('good', { region: 'eu' }),
  'call known': (client) =>
    client.callTool('good', { region: 'eu' }, { tool: { name: 'good', inputSchema: REGION } }),
  list: (client) => client.listTools(),
  check: (client) => client.check(),
  ask: (client) => client.request('x/y', {}),
};

/**
 * A title, and below it `protocol (the protocol detected before): calls | requests and their replies | outcome`. The requests
 * `legacy`, `after <event id>` and `end` are in the session that the last `handshake` opened. `*` stands for each of a list.
 */
const TALKS = `
sends one request to a plain service, and stores the protocol
  auto: find, find | bare; bare | stores bare
performs the handshake that a refusal demands, once
  auto: find, find | bare = not initialized; handshake; legacy; legacy; end | stores legacy
starts with the handshake if it was needed before
  auto (legacy): find | handshake; legacy; end | stores nothing
uses 2026-07-28 when a refusal demands it
  auto: find, find | bare = supports 2026-07-28; modern; modern | stores modern
uses 2026-07-28 after *
  * = header mismatch | missing capability | missing metadata
  auto: find | bare = *; modern | stores modern
performs the handshake after *
  * = text, with status 400 | page, with status 404 | other JSON, with status 422 | supports 2025-06-18
    | not initialized, with status 200 | not initialized, in words
  auto: find | bare = *; handshake of 2025-06-18; legacy; end
keeps the protocol after a status that is unrelated to it
  auto: call, call, call, call, call | bare = 401; bare = 403; bare = 500; bare = 503; bare = 429
    | says 127.0.0.1, stores nothing
keeps a protocol that was detected after a status that is unrelated to it
  auto (bare): call | bare = 429 | fails rate_limited, stores nothing
learns nothing without a response
  auto: call | bare = no response | fails network, stores nothing
learns nothing without a response in a protocol that was detected
  auto (legacy): call | handshake without session; legacy = no response | fails network, stores nothing
keeps 2026-07-28 when a call needs a capability that is missing
  auto (modern): call | modern = missing capability, with status 200 | fails rpc_error, stores nothing
returns a JSON-RPC error without another request
  auto: find | bare = unknown tool | fails rpc_error, stores bare
returns an error about the request in the protocol that a refusal demands
  auto: find | bare = supports 2026-07-28; modern = bad city | fails rpc_error, says bad city, stores modern
reports the first refusal when the handshake is refused, too, and tries it once
  auto: find, find | bare = no calls here; initialize = no handshake here; bare = no calls here
    | fails http_error, status 404, says no calls here, says restaurant status, stores nothing
reports the refusal of the plain call when the handshake gets no response
  auto: find | bare = no calls here; initialize = no response; initialize = no response; initialize = no response
    | fails http_error, status 404, says no calls here, stores nothing
reports the refusal of the plain call when a handshake that was needed before is refused
  auto (legacy): find | initialize = no handshake here; bare = not initialized; initialize = no handshake here
    | fails rpc_error, says Server not initialized, stores forgotten
tries the handshake again when a plain call that worked is refused
  auto: ask, ask, ask | bare x/y = unknown method, with status 404; initialize = no handshake here; bare x/y;
    bare x/y = not initialized; handshake; legacy x/y; end | stores bare forgotten legacy
forgets a handshake after which calls are refused
  auto (legacy): find | handshake without session; legacy = page, with status 404; bare | stores forgotten bare
forgets a handshake when the service has become plain
  auto (legacy): find | initialize = unknown method, without id; bare | stores forgotten bare
forgets 2026-07-28 when the service has become plain
  auto (modern): find | modern = unknown method, without id; bare | stores forgotten bare
forgets a protocol that it does not know
  auto (later): find | bare | stores forgotten bare
negotiates once after a refusal with our id, and keeps a protocol that is confirmed
  auto (bare): ask, ask | bare x/y = unknown method; initialize = unknown method; bare x/y = unknown method
    | stores forgotten bare, returns {"status":400,"failed":true}
searches when an endpoint of 2026-07-28 has become one of 2025
  auto (modern): find | modern = bad request; bare = not initialized; handshake; legacy; end
    | stores forgotten legacy
lists tools when an endpoint of 2026-07-28 has become one of 2025
  auto (modern): list | modern tools/list = bad request; bare tools/list = not initialized; handshake;
    legacy tools/list = tools; end | stores forgotten legacy
checks the key when an endpoint of 2026-07-28 has become one of 2025
  auto (modern): check | modern = bad request; bare = not initialized; handshake; legacy; end
    | stores forgotten legacy
leaves out tools with an invalid annotation if 2026-07-28 was detected before
  auto (modern): list | modern tools/list = tools | stores nothing, returns [{"name":"good"}]
reports the refusal of a request that fails with every protocol, and negotiates once
  auto (modern): find, find | modern = bad city; bare = supports 2026-07-28; modern = bad city; modern = bad city
    | fails rpc_error, says bad city, stores forgotten modern

suggests to detect the protocol when the plain call is refused
  bare: call | bare = not initialized | fails rpc_error, status 400, says --protocol auto
suggests to detect the protocol when 2026-07-28 is refused
  2026-07-28: call | modern = not initialized | fails rpc_error, status 400, says --protocol auto
suggests to detect the protocol when the handshake is refused
  2025-11-25: call | initialize = supports 2026-07-28 | fails rpc_error, rpc -32022, says --protocol auto

uses the version that the service selects in the handshake
  2025-11-25: find | handshake of 2025-03-26; legacy; end
reports a rate limit that ends the handshake as such, without a word about protocols
  2025-11-25: find | initialize = opened; initialized = 429 | fails rate_limited, status 429, omits --protocol
works without a session, and deletes none
  2025-11-25: find | handshake without session; legacy
does not wait for the response to a notification that stays open
  2025-11-25: find | initialize = opened; initialized = open stream; legacy
repeats the handshake once when the session has expired
  2025-11-25: find, find | handshake; legacy; legacy = session expired; handshake; legacy; end
returns an error with our id without a new session
  2025-11-25: call | handshake; legacy = bad city; end | fails rpc_error, status 400
rejects an unknown version
  2025-11-25: find | initialize = unknown version | fails bad_response, says 1999-01-01
resumes a stream that ends before the response
  2025-11-25: call | handshake; legacy = event 1; after 1 = event 2; after 2 = event 3; after 3 = last event; end
    | waits 30 30 30
resumes a stream five times at most
  2025-11-25: call | handshake; legacy = event 1; after 1 = event 1; after 1 = event 1; after 1 = event 1;
    after 1 = event 1; after 1 = event 1; end | fails network
does not resume a stream without ids
  2025-11-25: call | handshake; legacy = no events; end | fails network

reads the parameters that are headers from the tool list after a refusal
  2026-07-28: call, call | modern = header mismatch; modern tools/list = tools; modern +region; modern +region
    | warns bad is left out
lists no tools with an invalid annotation
  2026-07-28: list | modern tools/list = tools | returns [{"name":"good"}]
sends the headers of a known tool with the first request
  2026-07-28: call known | modern +region
repeats a call when a refusal names the version that was used
  2026-07-28: call | modern = supports 2026-07-28; modern
repeats a call only once
  2026-07-28: call | modern = supports 2026-07-28; modern = supports 2026-07-28 | fails rpc_error, rpc -32022
does not repeat a call when a refusal names another version
  2026-07-28: call | modern = supports 2027-01-01 | fails rpc_error, rpc -32022
returns a complete result
  2026-07-28: call | modern = complete | returns {"resultType":"complete","content":[]}
rejects a result of an unknown type
  2026-07-28: call | modern = result of type "later" | fails bad_response, says later
rejects a result whose type is not text
  2026-07-28: call | modern = result of type 3 | fails bad_response, says a number
does not resume a stream of 2026-07-28
  2026-07-28: call | modern = event 1 | fails network
reports an unknown method as a JSON-RPC error, not a wrong URL
  2026-07-28: call | modern = unknown method, with status 404 | fails rpc_error, rpc -32601
returns the response to an unknown method
  2026-07-28: ask | modern x/y = unknown method, with status 404 | returns {"status":404,"failed":true}
reports a request for input of 2026-07-28
  2026-07-28: find, lookup, call | modern = input required; modern = input required; modern = input required
    | fails tool_error, says the tool requests input, says who (elicitation/create) "Your name?"
reports a request for input without a handshake
  bare: find, lookup, call | bare = input required; bare = input required; bare = input required
    | fails tool_error, says the tool requests input, says who (elicitation/create) "Your name?"
reports a request for input in a session
  2025-11-25: find, lookup, call | handshake; legacy = input required; legacy = input required;
    legacy = input required; end
    | fails tool_error, says the tool requests input, says who (elicitation/create) "Your name?"
`;

const wordsOf = (error: unknown): string =>
  error instanceof AppError ? `${error.message}\n${hintText(hintFor(error))}` : String(error);

/** Checks of the result or error of each call. */
const RESULTS: Readonly<Record<string, (result: unknown, value: string) => void>> = {
  fails: (error, value) => expect(error).toMatchObject(value in KIND_OF ? { code: value } : { kind: value }),
  status: (error, value) => expect(error).toMatchObject({ details: { status: Number(value) } }),
  rpc: (error, value) => expect(error).toMatchObject({ details: { rpcCode: Number(value) } }),
  says: (error, value) => expect(wordsOf(error)).toContain(value),
  omits: (error, value) => expect(wordsOf(error)).not.toContain(value),
  returns: (result, value) => expect(result).toMatchObject(JSON.parse(value)),
};

/** Returns a talk once for each value that `*` stands for. */
function alternatives(talk: string): string[] {
  const [line, values] = /\n {2}\* = (.*?)(?=\n {2}\S)/s.exec(talk) ?? [];
  if (line === undefined || values === undefined) return [talk];
  return split(values, '|').map((value) => talk.replace(line, '').replaceAll('*', value));
}

describe('the client', () => {
  const talks = TALKS.trim()
    .split(/\n+(?=\S)/)
    .flatMap(alternatives);
  it.each(talks.map((text) => split(text, '\n  ')))('%s', async (_title, ...lines) => {
    const [subject = '', script = '', outcome = ''] = split(lines.join(' '), '|');
    const [, protocol, before = '', calls = ''] = /^(\S+?)(?: \((\w+)\))?: (.*)$/.exec(subject) ?? [];
    const memory = memoryOf(before === '' ? undefined : named(STORED, before));
    const warnings: string[] = [];
    const { client, slept, requests } = await scripted(exchanges(split(script, ';')), {
      protocol: protocol as Protocol,
      protocolMemory: memory,
      trace: (event) => void (event.kind === 'note' && warnings.push(event.text)),
    });
    const results: unknown[] = [];
    for (const call of split(calls, ','))
      results.push(await named(CALLS, call)(client).catch((error: unknown) => error));
    await client.close();
    expectMetadata(requests);
    for (const result of results) expect(result instanceof AppError).toBe(/^(fails|says)/.test(outcome));
    for (const part of split(outcome, ', ')) {
      const [, what = '', value = ''] = /^(\S+) (.*)$/.exec(part) ?? [];
      const list = value === 'nothing' ? [] : value.split(' ');
      if (what === 'stores') expect(memory.log).toEqual(list.map((name) => STORED[name]));
      else if (what === 'waits') expect(slept).toEqual(list.map(Number));
      else if (what === 'warns') expect(warnings.at(-1)).toContain(value);
      else if (what !== '') for (const result of results) named(RESULTS, what)(result, value);
    }
  });

  it('gives two calls that wait for the same handshake an error each', async () => {
    const { client } = await scripted([['initialize', status(404)]], { protocol: '2025-11-25' });
    const errors = await Promise.all(['r-1', 'r-2'].map((id) => failure(client.lookup(id))));
    expect(errors.map(({ details }) => details.restaurantId)).toEqual(['r-1', 'r-2']);
  });
});

/** Expects requests of 2026-07-28 to repeat their metadata in headers. */
function expectMetadata(requests: readonly RpcRequest[]): void {
  for (const { headers, method, params } of requests) {
    const isModern = headers['mcp-protocol-version'] === '2026-07-28';
    expect(params._meta?.['io.modelcontextprotocol/protocolVersion'] === '2026-07-28').toBe(isModern);
    if (isModern) expect(headers['mcp-method']).toBe(method);
  }
}

/** Stores protocols in memory; `log` lists the operations. */
function memoryOf(start?: DetectedProtocol): ProtocolMemory & { log: unknown[] } {
  let held = start;
  const log: unknown[] = [];
  return {
    log,
    read: () => held,
    write(value) {
      held = value;
      log.push(value);
    },
    forget() {
      held = undefined;
      log.push(FORGOTTEN);
    },
  };
}

const REFUSED = ['elicitation/create', 'sampling/createMessage', 'roots/list', 'other/method'];

describe('in a session, the client', () => {
  const open = async (reply: Reply, ...further: Exchange[]) => {
    const script = [...exchanges(['handshake']), ['tools/call', reply] as const, ...further];
    return scripted([...script, ...exchanges(['end'])], { protocol: '2025-11-25' });
  };

  it('sends its name and version', async () => {
    const { client, requests } = await open(output(FOUND));
    await client.callTool('t', {});
    expect(requests[0]?.params).toEqual({
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'restaurant-data-cli', version: VERSION },
    });
  });

  it('performs one handshake for concurrent calls', async () => {
    const { client } = await open(output(FOUND), FIND, FIND);
    await Promise.all([1, 2, 3].map(() => client.callTool('t', {})));
  });

  it('replies to ping, rejects other requests of the server, and still reads the response', async () => {
    let end = () => {};
    const { client, requests } = await open(
      ({ id }, response) => {
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        response.write('data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n');
        response.write('data: {"jsonrpc":"2.0","id":"p1","method":"ping"}\n\n');
        for (const [id, method] of REFUSED.entries()) {
          response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, method, params: {} })}\n\n`);
        }
        end = () => response.end(`data: ${toolReply(id, FOUND)}\n\n`);
      },
      ['POST', status(202)],
      ...REFUSED.map(
        (_method, index): Exchange => [
          'POST',
          (request, response) => {
            status(202)(request, response);
            if (index === REFUSED.length - 1) end();
          },
        ],
      ),
    );
    await client.callTool('t', {});
    const answers = requests.filter(({ method }) => method === 'POST').map(({ text }) => JSON.parse(text));
    expect(answers).toContainEqual({ jsonrpc: '2.0', id: 'p1', result: {} });
    for (const [id, method] of REFUSED.entries()) {
      const error = { code: -32601, message: `the client cannot answer ${method}` };
      expect(answers).toContainEqual({ jsonrpc: '2.0', id, error });
    }
  });

  it('notifies the service of a cancelled call', async () => {
    const controller = new AbortController();
    const { client, requests } = await open(
      () => controller.abort(new Error('enough')),
      ['notifications/cancelled', status(202)],
    );
    expect(await failure(client.callTool('t', {}, { signal: controller.signal }))).toMatchObject({
      code: 'interrupted',
      cause: new Error('enough'),
    });
    const [call, cancelled] = requests.slice(2);
    expect(cancelled).toMatchObject({ method: 'notifications/cancelled', params: { requestId: call?.id } });
  });
});

it('sends metadata in every request of 2026-07-28', async () => {
  const name = `=?base64?${Buffer.from('naïve').toString('base64')}?=`;
  const script: Exchange[] = [['tools/call', output(FOUND), { 'mcp-name': name }]];
  const { client, requests } = await scripted(script, { protocol: '2026-07-28' });
  await client.callTool('naïve', { a: 1 });
  expect(requests[0]?.params).toEqual({
    name: 'naïve',
    arguments: { a: 1 },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': { name: 'restaurant-data-cli', version: VERSION },
    },
  });
});

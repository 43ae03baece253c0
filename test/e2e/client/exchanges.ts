import type { Reply } from '../../helpers/answers.ts';
import { FOUND, toolReply } from '../../helpers/client.ts';
import {
  type Exchange,
  events,
  FIND,
  json,
  refuse,
  refuseAny,
  result,
  status,
} from '../../helpers/script.ts';

export const REGION = { properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
const BAD_TOOL = { name: 'bad', inputSchema: { properties: { n: { type: 'number', 'x-mcp-header': 'N' } } } };
const TOOLS = [{ name: 'good', inputSchema: REGION }];

const unsupported = (version: string) =>
  refuse(400, { code: -32022, message: 'Unsupported', data: { supported: [version] } });

const REPLIES: Readonly<Record<string, Reply>> = {
  found: FIND[1],
  tools: result({ tools: [...TOOLS, BAD_TOOL] }),
  'not initialized': refuseAny(400, { code: -32000, message: 'Bad Request: Server not initialized' }),
  'not initialized, with status 200': json('{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"x"}}'),
  'not initialized, in words': json(
    '{"jsonrpc":"2.0","id":1,"error":{"code":0,"message":"invalid during session initialization"}}',
  ),
  'session expired': refuseAny(404, { code: -32001, message: 'Session not found' }),
  'supports 2026-07-28': unsupported('2026-07-28'),
  'supports 2027-01-01': unsupported('2027-01-01'),
  'supports 2025-06-18': refuseAny(400, {
    code: -32022,
    message: 'x',
    data: { supported: ['2025-06-18'] },
  }),
  'header mismatch': refuse(400, { code: -32020, message: 'missing Mcp-Param-Region' }),
  'missing capability': refuse(400, { code: -32021, message: 'x' }),
  'missing capability, with status 200': refuse(200, { code: -32021, message: 'x' }),
  'missing metadata': refuse(200, { code: -32602, message: 'x', data: { envelope: [] } }),
  'bad city': refuse(400, { code: -32602, message: 'bad city' }),
  'unknown tool': refuse(200, { code: -32602, message: 'Unknown tool' }),
  'bad request': refuse(400, { code: -32600, message: 'Bad Request' }),
  'unknown method': refuse(400, { code: -32601, message: 'no' }),
  'unknown method, with status 404': refuse(404, { code: -32601, message: 'no' }),
  'unknown method, without id': refuseAny(400, { code: -32601, message: 'no' }),
  opened: result({ protocolVersion: '2025-11-25' }),
  'open stream': (_, response) =>
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(': open\n\n'),
  'unknown version': result({ protocolVersion: '1999-01-01' }),
  'text, with status 400': json('text', 400),
  'page, with status 404': json('<html>', 404),
  'other JSON, with status 422': json('{"error":"x"}', 422),
  'no calls here': status(404, {}, 'no calls here'),
  'no handshake here': status(404, {}, 'no handshake here'),
  'no response': (_, response) => response.destroy(),
  'no events': events(': nothing'),
  'event 1': events('id: 1\nretry: 30\ndata:'),
  'event 2': events('id: 2\nretry: 30\ndata:'),
  'event 3': events('id: 3\nretry: 30\ndata:'),
  'last event': events(`id: 9\ndata: ${toolReply(2, FOUND)}`),
  complete: result({ resultType: 'complete', content: [] }),
  'result of type "later"': result({ resultType: 'later' }),
  'result of type 3': result({ resultType: 3 }),
  'input required': result({
    resultType: 'input_required',
    inputRequests: { who: { method: 'elicitation/create', params: { message: 'Your name?' } } },
  }),
};

export const split = (text: string, separator: string): string[] =>
  text.split(separator).map((part) => part.trim());

export function named<T>(table: Readonly<Record<string, T>>, name: string): T {
  const value = table[name];
  if (value === undefined) throw new Error(`no such entry: ${name}`);
  return value;
}

const NONE = { 'mcp-session-id': undefined, 'mcp-protocol-version': undefined };

/** The method and headers of each kind of request; those of the session by default. */
const REQUESTS: Readonly<Record<string, readonly [method: string, headers?: Exchange[2]]>> = {
  bare: ['tools/call', NONE],
  modern: ['tools/call', { ...NONE, 'mcp-protocol-version': '2026-07-28' }],
  initialize: ['initialize', NONE],
  initialized: ['notifications/initialized'],
  legacy: ['tools/call'],
  after: ['GET'],
  end: ['DELETE'],
};

/** Returns the exchanges that a script describes. */
export function exchanges(script: readonly string[]): Exchange[] {
  let session: Exchange[2] = {};
  return script.flatMap((step, index) => {
    const [request = '', reply = 'found'] = split(step, ' = ');
    const [kind = '', ...more] = request.split(' ');
    if (kind !== 'handshake') return [exchange(kind, more.join(' '), reply, session)];
    const id = more[0] === 'without' ? undefined : `session-${index}`;
    const version = more[0] === 'of' ? more[1] : '2025-11-25';
    session = { 'mcp-session-id': id, 'mcp-protocol-version': version };
    const headers = { ...(id !== undefined && { 'Mcp-Session-Id': id }) };
    const opened = result({ protocolVersion: version, capabilities: {} }, headers);
    return [['initialize', opened, NONE] as const, exchange('initialized', '', '202', session)];
  });
}

/** @param about the method, the last event id, or the headers of the request */
function exchange(kind: string, about: string, replyName: string, session: Exchange[2]): Exchange {
  const [method, headers = session] = named(REQUESTS, kind);
  const isStatus = /^\d+$/.test(replyName);
  const reply = isStatus ? status(Number(replyName), { 'Retry-After': '3600' }) : named(REPLIES, replyName);
  const resume = { accept: 'text/event-stream', 'last-event-id': about, 'content-type': undefined };
  return [
    about.includes('/') ? about : method,
    reply,
    {
      ...headers,
      ...(kind === 'after' && resume),
      ...(about === '+region' && { 'mcp-param-region': 'eu' }),
    },
  ];
}

import type { OutgoingHttpHeaders } from 'node:http';
import { type Reply, resultText, toolText } from './answers.ts';

/** Responds with something that contains a text. */
type Repeat = (text: string) => Reply;

const httpReply =
  (status: number, body: (text: string) => string, headers: OutgoingHttpHeaders = {}): Repeat =>
  (text) =>
  (_, response) =>
    response.writeHead(status, headers).end(body(text));

const rpcError =
  (error: (text: string) => object): Repeat =>
  (text) =>
  ({ id }, response) =>
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: error(text) }));

const EVENTS = { 'Content-Type': 'text/event-stream' };

/** Failures in which a service repeats a text. */
export const FAILURES: Readonly<Record<string, Repeat>> = {
  'a JSON-RPC error': rpcError((text) => ({ code: -32000, message: text, data: { [text]: text } })),
  'a JSON-RPC error with text as its code': rpcError((text) => ({ code: text, message: text })),
  'a rejected key': httpReply(401, (text) => JSON.stringify({ error: { message: text } })),
  'a missing permission': httpReply(403, (text) => `no: ${text}`),
  'too many requests': httpReply(429, (text) => JSON.stringify({ message: text }), { 'Retry-After': '1' }),
  'a server error': httpReply(500, (text) => text),
  'a page': httpReply(200, (text) => `<html><title>${text}</title>${text}</html>`),
  'JSON that is cut off': httpReply(200, (text) => `{"echo":"${text}"`),
  'a stream that is cut off': httpReply(200, (text) => `: ${text}\n\ndata: {"echo":"${text}"\n\n`, EVENTS),
  'a redirect': (text) => (_, response) => {
    const place = encodeURIComponent(Buffer.from(text).toString());
    response.writeHead(302, { Location: `https://h.example/?${place}` }).end();
  },
  'a reason phrase and a header': (text) => (_, response) => {
    const latin1 = text.replace(/[\r\n]/g, ' ');
    const head = `HTTP/1.1 500 ${latin1}\r\nX-Request-Id: ${latin1}\r\nX-Echo: ${latin1}\r\n`;
    response.socket?.end(Buffer.from(`${head}Content-Length: 0\r\n\r\n`));
  },
  'a tool that fails': (text) =>
    resultText(JSON.stringify({ isError: true, content: [{ type: 'text', text }] })),
  'a status in the data': (text) => toolText(JSON.stringify({ status: `x${text}`, message: text })),
  'text that is not JSON': (text) => toolText(`{${text}`),
  'a response with another id': (text) => (request, response) =>
    toolText(text)({ ...request, id: request.id + 1 }, response),
};

/** Results in which a service repeats a text. */
export const RESULTS: Readonly<Record<string, Repeat>> = {
  'the text of a tool result': toolText,
  'a field in the data': (text) =>
    toolText(
      JSON.stringify({
        status: 'ok',
        results: [{ service_id: 'r', name: text, [text]: text }],
        total_matches: 1,
      }),
    ),
  'JSON as written': (text) =>
    toolText(`{"status":"ok","results":[{"service_id":"r","name":"${text}"}],"total_matches":1}`),
  'a list of tools': (text) =>
    resultText(JSON.stringify({ tools: [{ name: text, description: text, inputSchema: { title: text } }] })),
  'pieces of a stream':
    (message) =>
    ({ id }, response) => {
      const progress = {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progress: 1, message },
      };
      const content = [{ type: 'text', text: JSON.stringify({ name: message }) }];
      const events = [progress, { jsonrpc: '2.0', id, result: { content } }];
      const stream = `: ${message}\n\n${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}`;
      response.writeHead(200, EVENTS);
      for (let at = 0; at < stream.length; at += 7) response.write(stream.slice(at, at + 7));
      response.end();
    },
};

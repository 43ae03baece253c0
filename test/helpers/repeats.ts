import { type Reply, toolText } from './answers.ts';
import { json, output, refuse, result, status } from './script.ts';

/** Responds with something that contains a text. */
type Repeat = (text: string) => Reply;

const EVENTS = { 'Content-Type': 'text/event-stream' };

/** Failures in which a service repeats a text. */
export const FAILURES: Readonly<Record<string, Repeat>> = {
  'a JSON-RPC error': (text) => refuse(200, { code: -32000, message: text, data: { [text]: text } }),
  'a JSON-RPC error with text as its code': (text) => refuse(200, { code: text, message: text }),
  'a rejected key': (text) => json(JSON.stringify({ error: { message: text } }), 401),
  'a missing permission': (text) => status(403, {}, `no: ${text}`),
  'too many requests': (text) => status(429, { 'Retry-After': '1' }, JSON.stringify({ message: text })),
  'a server error': (text) => status(500, {}, text),
  'a page': (text) => status(200, {}, `<html><title>${text}</title>${text}</html>`),
  'JSON that is cut off': (text) => json(`{"echo":"${text}"`),
  'a stream that is cut off': (text) => status(200, EVENTS, `: ${text}\n\ndata: {"echo":"${text}"\n\n`),
  'a redirect': (text) =>
    status(302, { Location: `https://h.example/?${encodeURIComponent(Buffer.from(text).toString())}` }),
  'a reason phrase and a header': (text) => (_, response) => {
    const latin1 = text.replace(/[\r\n]/g, ' ');
    const head = `HTTP/1.1 500 ${latin1}\r\nX-Request-Id: ${latin1}\r\nX-Echo: ${latin1}\r\n`;
    response.socket?.end(Buffer.from(`${head}Content-Length: 0\r\n\r\n`));
  },
  'a tool that fails': (text) => result({ isError: true, content: [{ type: 'text', text }] }),
  'a status in the data': (text) => output({ status: `x${text}`, message: text }),
  'text that is not JSON': (text) => toolText(`{${text}`),
  'a response with another id': (text) => (request, response) =>
    output(text)({ ...request, id: request.id + 1 }, response),
};

/** Results in which a service repeats a text. */
export const RESULTS: Readonly<Record<string, Repeat>> = {
  'the text of a tool result': toolText,
  'a field in the data': (text) =>
    output({
      status: 'ok',
      results: [{ service_id: 'r', name: text, [text]: text }],
      total_matches: 1,
    }),
  'JSON as written': (text) =>
    toolText(`{"status":"ok","results":[{"service_id":"r","name":"${text}"}],"total_matches":1}`),
  'a list of tools': (text) =>
    result({ tools: [{ name: text, description: text, inputSchema: { title: text } }] }),
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

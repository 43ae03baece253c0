// A service that answers every call with the same restaurant, in a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const source = `
  const latencyMs = Number(process.argv[1]);
  const output = { status: 'ok', results: [{ service_id: 'x1', name: 'Nopa', city: 'SF', cuisine_tags: ['californian'] }], total_matches: 1 };
  require('node:http').createServer((request, response) => {
    let body = '';
    request.on('data', (part) => { body += part; }).on('end', () => {
      const { id } = JSON.parse(body);
      const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: JSON.stringify(output) }] } });
      const send = () => response.setHeader('content-type', 'application/json').end(answer);
      if (latencyMs > 0) setTimeout(send, latencyMs);
      else send();
    });
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

/** Starts it. @returns its base URL, and a way to stop it */
export async function startService(latencyMs = 0) {
  const child = spawn(process.execPath, ['-e', source, String(latencyMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [port] = await once(child.stdout, 'data');
  return { baseUrl: `http://127.0.0.1:${String(port).trim()}`, stop: () => child.kill() };
}

// Services for the benchmarks, in separate processes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { path } from '../scripts/project.js';

const bin = path('bin/restaurant.js');

/** Returns one restaurant for every call; 10,000 for `many`; one after 10,000 notifications for `noisy`. */
const source = `
  const restaurant = (place) => ({
    service_id: 'x' + place, name: 'Nopa ' + place, address: place + ' Divisadero St', city: 'SF', neighborhood: 'NoPa',
    coordinates: { lat: 37.7 + place / 1e6, lng: -122.4 }, cuisine_tags: ['californian', 'brunch'], grade: 'A', coverage_level: 'full',
  });
  const text = (count) => JSON.stringify({ status: 'ok', results: Array.from({ length: count }, (_, place) => restaurant(place)), total_matches: count });
  const [one, many] = [text(1), text(10_000)];
  const note = (place) => 'event: message\\ndata: ' + JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'row ' + place } }) + '\\n\\n';
  const notes = Array.from({ length: 10_000 }, (_, place) => note(place)).join('');
  require('node:http').createServer((request, response) => {
    let body = '';
    request.on('data', (part) => { body += part; }).on('end', () => {
      const { id, params } = JSON.parse(body);
      const { name } = params.arguments;
      const reply = JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: name === 'many' ? many : one }] } });
      const noisy = name === 'noisy';
      response.setHeader('content-type', noisy ? 'text/event-stream' : 'application/json');
      response.end(noisy ? notes + 'data: ' + reply + '\\n\\n' : reply);
    });
  }).listen(0, '127.0.0.1', function () { console.log('http://127.0.0.1:' + this.address().port); });
`;

/** Starts the plain service. @returns its base URL, and a way to stop it */
export const startService = () => startServer(['-e', source]);

/** Starts the sandbox without a quota. @returns its base URL, and a way to stop it */
export const startSandbox = (...options) =>
  startServer([bin, ...'sandbox --port 0 --per-minute 0 --per-day 0'.split(' '), ...options]);

async function startServer(words) {
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [printed] = await once(child.stdout, 'data');
  return { baseUrl: String(printed).split('\n')[0].trim(), stop: () => child.kill() };
}

// The searches of a list, as the shortest possible script: undici, a number of requests at a time, each response
// parsed. Usage: node bare-loop.cjs <list> <concurrency>
const { readFileSync } = require('node:fs');
const { request } = require('undici');

const [file, concurrency] = process.argv.slice(2);
const url = `${process.env.RESTAURANT_BASE_URL}/api/mcp`;
const headers = {
  'Content-Type': 'application/json',
  Accept: 'application/json, text/event-stream',
  Authorization: `Bearer ${process.env.RESTAURANT_API_KEY}`,
};
const rows = readFileSync(file, 'utf8').trimEnd().split('\n').slice(1);
let next = 0;
let found = 0;

async function work() {
  for (let id = next++; id < rows.length; id = next++) {
    const [name, city] = rows[id].split(',');
    const params = { name: 'find_restaurant', arguments: { name, city } };
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params });
    const reply = await request(url, { method: 'POST', headers, body });
    const { result } = JSON.parse(await reply.body.text());
    found += JSON.parse(result.content[0].text).results.length;
  }
}

Promise.all(Array.from({ length: Number(concurrency) }, work)).then(() => {
  if (found !== rows.length) throw new Error(`${found} of ${rows.length}`);
});

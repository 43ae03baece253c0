// One search, as the shortest possible script. CommonJS, because Node starts that faster than an ES module.
const { request } = require('node:http');

const body = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'find_restaurant', arguments: { name: 'Nopa', city: 'SF' } },
});
const call = request(`${process.env.RESTAURANT_BASE_URL}/api/mcp`, {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
    Authorization: `Bearer ${process.env.RESTAURANT_API_KEY}`,
  },
});
call.on('response', async (response) => {
  let text = '';
  for await (const part of response) text += part;
  console.log(JSON.stringify(JSON.parse(JSON.parse(text).result.content[0].text)));
});
call.end(body);

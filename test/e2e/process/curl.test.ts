import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { curlCommand, previewRequest } from '../../../src/client/preview.ts';
import { VERSION } from '../../../src/version.ts';
import { endpointAt, KEY } from '../../helpers/client.ts';
import { httpServer } from '../../helpers/servers.ts';

const run = promisify(execFile);
const PARAMS = {
  name: 'find_restaurant',
  arguments: { name: 'L\'Ami "Jean" $HOME `x` \\n', city: 'Zürich\n' },
};

it.skipIf(spawnSync('curl', ['--version']).error !== undefined)(
  'the printed curl command sends the bytes of the request',
  async () => {
    const { origin, requests, close } = await httpServer((_request, response) => response.end('{}'));
    onTestFinished(close);
    const endpoint = endpointAt(origin);
    const preview = previewRequest({ endpoint, key: KEY, method: 'tools/call', params: PARAMS });
    await run('sh', ['-c', `${curlCommand(preview)} -s --noproxy '*'`], {
      env: { PATH: '/usr/bin:/bin:/usr/local/bin', RESTAURANT_API_KEY: KEY },
    });
    expect(requests[0]?.body).toBe(JSON.stringify(preview.body));
    expect(requests[0]).toMatchObject({
      method: 'POST',
      path: '/api/mcp',
      headers: {
        authorization: `Bearer ${KEY}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'user-agent': `restaurant-data-cli/${VERSION}`,
      },
    });
  },
);

import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { curlCommand, previewRequest } from '../../../src/client/preview.ts';
import { VERSION } from '../../../src/version.ts';
import { KEY, serve } from '../../helpers/client.ts';

const run = promisify(execFile);
const PARAMS = {
  name: 'find_restaurant',
  arguments: { name: 'L\'Ami "Jean" $HOME `x` \\n', city: 'Zürich\n' },
};

it.skipIf(spawnSync('curl', ['--version']).error !== undefined)(
  'the printed curl command sends the bytes of the request',
  async () => {
    const { url, requests } = await serve((_request, response) => response.end('{}'));
    const preview = previewRequest({
      endpoint: url,
      key: KEY,
      method: 'tools/call',
      params: PARAMS,
    });
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

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { UNTRUSTED } from '../helpers/certificate.ts';
import { restaurant } from '../helpers/process.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { type Fault, faultsEnding, good, KEY, type Reply } from './fault.ts';
import { serveFault } from './server.ts';
import { faultSuite } from './suite.ts';
import { expectSurvived } from './survival.ts';
import { countFault } from './tally.ts';

const tls = faultsEnding({ exit: 6, code: 'tls', waits: [] });
const https = (port: number) => `https://localhost:${port}`;
const silent: Reply = () => undefined;
/** A TLS record that rejects the handshake: alert 40. */
const ALERT = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]);

const faults: Fault[] = [
  tls('an untrusted certificate', good, {
    requests: 0,
    baseUrl: https,
    tls: true,
    message: /localhost:\d+[^\n]*\n.*NODE_EXTRA_CA_CERTS/,
  }),
  tls('a port that speaks plain HTTP', good, {
    requests: 0,
    baseUrl: https,
    banner: 'HTTP/1.1 400 Bad Request\r\n\r\n',
    message: /plain HTTP\n.*http:\/\/localhost/,
  }),
  tls('a port that speaks SSH', good, { requests: 0, baseUrl: https, banner: 'SSH-2.0-OpenSSH_9.6\r\n' }),
  tls('a handshake that is rejected', good, { requests: 0, baseUrl: https, banner: ALERT }),
  {
    name: 'a handshake that breaks off',
    exit: 6,
    code: 'network',
    reply: good,
    requests: 0,
    waits: [250, 500],
    baseUrl: https,
    banner: '',
  },
  {
    name: 'a handshake that never ends',
    exit: 6,
    code: 'timeout',
    reply: silent,
    requests: 0,
    baseUrl: https,
    options: ['--timeout', '300ms'],
    message: /no connection to localhost:\d+ within 300ms/,
  },
  {
    name: 'plain HTTP to a port that speaks TLS',
    exit: 6,
    code: 'network',
    reply: good,
    requests: 0,
    tls: true,
  },
];

faultSuite('TLS', faults);

describe.concurrent('with a trusted certificate, the program', () => {
  const folder = tempFolder();
  const file = join(folder, 'ca.pem');
  beforeAll(() => writeFileSync(file, UNTRUSTED.cert));

  it.each([
    ['connects to its host', 'localhost', '127.0.0.1', { exit: 0 }, ''],
    [
      'rejects another host',
      '127.0.0.2',
      '127.0.0.2',
      { exit: 6, code: 'tls' },
      /for DNS:localhost.*not for 127\.0\.0\.2/,
    ],
  ] as const)('%s', (_name, host, address, wanted, message) =>
    countFault('TLS', async () => {
      const server = await serveFault({ reply: good, tls: true }, address);
      const { exit, ...rest } = await restaurant(
        ['find', 'Nopa', '--city', 'SF', '--json', '--retries', '0'],
        {
          env: {
            HOME: folder,
            NODE_EXTRA_CA_CERTS: file,
            RESTAURANT_API_KEY: KEY,
            RESTAURANT_BASE_URL: `https://${host}:${server.port}`,
          },
        },
      );
      await server.close();
      expect(expectSurvived({ exit: exit ?? -1, ...rest }, { form: 'json', ...wanted })).toMatch(message);
    }),
  );
});

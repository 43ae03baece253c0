import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, it } from 'vitest';
import { UNTRUSTED } from '../helpers/certificate.ts';
import { tempFolder } from '../helpers/temp-folder.ts';
import { type Fault, faultsEnding, good, silent } from './fault.ts';
import { faultSuite, surviveAsProcess } from './suite.ts';

const tls = faultsEnding({ exit: 6, code: 'tls', requests: 0, waits: [] });
const network = faultsEnding({ exit: 6, code: 'network', requests: 0 });
const timeout = faultsEnding({ exit: 6, code: 'timeout', requests: 0 });
const https = (port: number) => `https://localhost:${port}`;
/** A TLS record that rejects the handshake: alert 40. */
const ALERT = Buffer.from([0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28]);

const faults: Fault[] = [
  ...tls({
    'an untrusted certificate': [
      good,
      { baseUrl: https, tls: true, message: /localhost:\d+[^\n]*\n.*NODE_EXTRA_CA_CERTS/ },
    ],
    'a port that speaks plain HTTP': [
      good,
      {
        baseUrl: https,
        banner: 'HTTP/1.1 400 Bad Request\r\n\r\n',
        message: /plain HTTP\n.*http:\/\/localhost/,
      },
    ],
    'a port that speaks SSH': [good, { baseUrl: https, banner: 'SSH-2.0-OpenSSH_9.6\r\n' }],
    'a handshake that is rejected': [good, { baseUrl: https, banner: ALERT }],
  }),
  ...network({
    'a handshake that breaks off': [good, { waits: [250, 500], baseUrl: https, banner: '' }],
    'plain HTTP to a port that speaks TLS': [good, { tls: true }],
  }),
  ...timeout({
    'a handshake that never ends': [
      silent,
      {
        baseUrl: https,
        options: ['--timeout', '300ms'],
        message: /no connection to localhost:\d+ within 300ms/,
      },
    ],
  }),
];

faultSuite('TLS', faults);

const TRUSTED = join(tempFolder(), 'ca.pem');
const trusting = { tls: true, options: ['--retries', '0'], env: { NODE_EXTRA_CA_CERTS: TRUSTED } } as const;

describe.concurrent('with a trusted certificate, the program', () => {
  beforeAll(() => writeFileSync(TRUSTED, UNTRUSTED.cert));

  it.each([
    ...faultsEnding({ ...trusting, exit: 0 })({ 'connects to its host': [good, { baseUrl: https }] }),
    ...faultsEnding({ ...trusting, exit: 6, code: 'tls', requests: 0 })({
      'rejects another host': [
        good,
        {
          host: '127.0.0.2',
          baseUrl: (port) => `https://127.0.0.2:${port}`,
          message: /for DNS:localhost.*not for 127\.0\.0\.2/,
        },
      ],
    }),
  ])('$name', async (fault) => {
    await surviveAsProcess(fault);
  });
});

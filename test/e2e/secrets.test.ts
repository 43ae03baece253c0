import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Reply, resultText, toolText, useScriptedService } from '../helpers/answers.ts';

const PREFIX = 'sk_service_';
const service = useScriptedService();
const stranger = useScriptedService();

/** Generates keys: the prefix, then visible ASCII. */
const secrets = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 16,
  maxLength: 40,
});

const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(2, '0');
const each = (text: string, write: (character: string) => string) => [...text].map(write).join('');

/** Encodings in which a service may repeat the key. */
const WRITINGS: Readonly<Record<string, (key: string) => string>> = {
  plain: (key) => key,
  'as Bearer': (key) => `Bearer ${key}`,
  'in a URL': (key) => `https://h.example/?key=${encodeURIComponent(key)}&a=b`,
  'percent-encoded': (key) => each(key, (character) => `%${hex(character)}`),
  'percent-encoded twice': (key) => encodeURIComponent(encodeURIComponent(key)),
  'as the user of a URL': (key) => `https://${encodeURIComponent(key)}:password@h.example/`,
  'with JSON escapes': (key) => each(key, (character) => `\\u00${hex(character).toUpperCase()}`),
  'with the first letter escaped': (key) => `\\u0073${JSON.stringify(key).slice(2, -1)}`,
  'as base64': (key) => Buffer.from(`x${key}`).toString('base64'),
  'in lower case': (key) => key.toLowerCase(),
};

/** Responses that may contain the key. */
const PLACES: Readonly<Record<string, (echo: string) => Reply>> = {
  'a JSON-RPC error':
    (echo) =>
    ({ id }, response) =>
      response.end(
        JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32000, message: echo, data: echo } }),
      ),
  'an HTTP error': (echo) => (_, response) => response.writeHead(500, echo, { 'X-Said': echo }).end(echo),
  'a refusal': (echo) => (_, response) =>
    response.writeHead(401).end(JSON.stringify({ error: { message: echo } })),
  'the title of a page': (echo) => (_, response) => response.end(`<html><title>${echo}</title></html>`),
  'a tool that fails': (echo) =>
    resultText(JSON.stringify({ isError: true, content: [{ type: 'text', text: echo }] })),
  'the text of a tool result': (echo) => toolText(echo),
  'a field in the data': (echo) =>
    toolText(
      JSON.stringify({
        status: 'ok',
        results: [{ service_id: 'r', name: echo, [echo]: echo }],
        total_matches: 1,
      }),
    ),
  'JSON as written': (echo) =>
    toolText(`{"status":"ok","results":[{"service_id":"r","name":"${echo}"}],"total_matches":1}`),
  'a list of tools': (echo) =>
    resultText(JSON.stringify({ tools: [{ name: echo, description: echo, inputSchema: { title: echo } }] })),
  'pieces of a stream':
    (echo) =>
    ({ id }, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      const progress = {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progress: 1, message: echo },
      };
      const content = [{ type: 'text', text: JSON.stringify({ name: echo }) }];
      const events = [progress, { jsonrpc: '2.0', id, result: { content } }];
      const text = `: ${echo}\n\n${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}`;
      for (let at = 0; at < text.length; at += 7) response.write(text.slice(at, at + 7));
      response.end();
    },
};

const COMMANDS: readonly (readonly string[])[] = [
  ['find', 'x', '--city', 'y', '--format', 'table'],
  ['find', 'x', '--city', 'y', '--json'],
  ['find', 'x', '--city', 'y', '--format', 'csv', '--max-age', '1h'],
  ['lookup', 'r', '--verbose'],
  ['lookup', 'r', 's', '--json'],
  ['call', 'find_restaurant', 'name=x', 'city=y', '--json', '--max-age', '1h'],
  ['call', 'find_restaurant', 'name=x', 'city=y', '--format', 'table'],
  ['tools', '--format', 'ndjson'],
  ['raw', 'tools/call', '{}', '-i', '--verbose'],
  ['raw', 'tools/call', '{}', '--unwrap'],
  ['enrich', '-', '--input-format', 'csv', '--fields', 'basic', '--progress', 'json'],
  ['status', '--check', '--json'],
  ['mcp'],
];
const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}';

/** Returns the text with escapes decoded. */
function decoded(text: string): string {
  const once = text
    .replace(/\\+u00([2-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\+(["\\/])/g, '$1')
    .replace(/%(?:25)*([2-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return once.replace(
    /[A-Za-z0-9+/]{16,}={0,2}/g,
    (base64) => base64 + Buffer.from(base64, 'base64').toString('latin1'),
  );
}

/** Returns whether the text shows more of the secret than its end. */
function shows(text: string, secret: string): boolean {
  const all = [text, decoded(text)].join('\n').toLowerCase();
  for (let at = 0; at + 6 <= secret.length; at += 1) {
    if (all.includes(secret.slice(at, at + 6).toLowerCase())) return true;
  }
  return false;
}

function textsOfHome(): string {
  const files = readdirSync(service.home, { recursive: true, encoding: 'utf8' }).map((name) =>
    join(service.home, name),
  );
  return files
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

describe('the key', () => {
  it('is never printed or stored, wherever and however the service repeats it', async () => {
    const any = <T>(record: Readonly<Record<string, T>>) => fc.constantFrom(...Object.entries(record));
    await fc.assert(
      fc.asyncProperty(
        secrets,
        any(WRITINGS),
        any(PLACES),
        fc.constantFrom(...COMMANDS),
        fc.boolean(),
        async (secret, [writing, write], [place, echo], words, debug) => {
          const key = PREFIX + secret;
          service.answer(echo(write(key)));
          const env = { RESTAURANT_API_KEY: key, ...(debug ? { RESTAURANT_DEBUG: '1' } : {}) };
          const stdin = words[0] === 'mcp' ? `${CALL}\n` : 'name,city\nx,y\n';
          const { stdout, stderr } = await service.run(words, { env, stdin });
          const where = [writing, place, words.join(' ')];
          expect([...where, shows(stdout, secret), shows(stderr, secret)]).toEqual([...where, false, false]);
          expect([...where, shows(textsOfHome(), secret)]).toEqual([...where, false]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is masked without breaking JSON', async () => {
    await fc.assert(
      fc.asyncProperty(secrets, async (secret) => {
        const key = PREFIX + secret;
        service.answer(PLACES['a field in the data']?.(`a ${key} b`) ?? resultText('1'));
        const env = { RESTAURANT_API_KEY: key };
        const { exit, stdout } = await service.run(['find', 'x', '--city', 'y', '--json'], { env });
        expect(exit).toBe(0);
        expect(JSON.parse(stdout).results[0].name).toMatch(/^a sk_service_…[\w.~-]{0,4} b$/);
      }),
      { numRuns: 10 },
    );
  });

  const KEY = `${PREFIX}m4rkedKeyOfNobody_x9z2`;
  const SECRET = KEY.slice(PREFIX.length);

  it('is not shown in part by truncation, nor by a bug in the program', async () => {
    for (const before of [380, 385, 390, 395, 398, 3990]) {
      const fault = new Error(`${'a'.repeat(before)}${KEY}`, { cause: new Error(`for ${KEY}`) });
      for (const more of [[], ['--json'], ['--verbose']]) {
        const run = await service.run(['find', 'x', '--city', 'y', ...more], {
          env: { RESTAURANT_API_KEY: KEY },
          now: () => {
            throw fault;
          },
        });
        expect(run.exit).toBe(1);
        expect([before, more, shows(run.stderr, SECRET), run.stderr.includes('m4rk')]).toEqual([
          before,
          more,
          false,
          false,
        ]);
      }
    }
  });

  it('is rejected as a search term, and not sent, printed or stored', async () => {
    const tty = { stdout: true, stderr: true };
    for (const more of [[], ['--dry-run'], ['--curl'], ['--verbose'], ['--json', '--max-age', '1h']]) {
      const run = await service.run(['find', KEY, '--city', `in ${KEY}`, ...more], {
        env: { RESTAURANT_API_KEY: KEY },
        tty,
      });
      expect([more, run.exit, shows(run.stdout + run.stderr, SECRET)]).toEqual([more, 2, false]);
    }
    expect(shows(textsOfHome(), SECRET)).toBe(false);
  });
});

describe('an invalid key', () => {
  const KEY = `${PREFIX}0123456789abcdef`;
  const fine: readonly string[] = [`${KEY}\n`, `${KEY}\r\n`, `  ${KEY}\t`, `\uFEFF${KEY}`];
  const wrong: readonly string[] = [
    `${KEY.slice(0, 20)}\n${KEY.slice(20)}`,
    `${KEY}\0`,
    `${KEY.slice(0, 20)}\u00a0${KEY.slice(20)}`,
    `${KEY.slice(0, 20)}\u200b${KEY.slice(20)}`,
    `${KEY}🍜`,
    `${KEY}é`,
    `"${KEY}"`,
    `'${KEY}'`,
    `“${KEY}”`,
    `Bearer ${KEY}`,
    `bearer\t${KEY}`,
    `${KEY} ${KEY}`,
    'sk_live_0123456789abcdef',
    PREFIX,
    '',
    ' \n',
  ];

  it('from any source is reported without repeating it, and never sent or saved', async () => {
    const file = join(service.home, 'key.txt');
    const before = service.requests.length;
    for (const text of wrong) {
      writeFileSync(file, text, { mode: 0o600 });
      const runs = [
        await service.run(['login', '--key-stdin'], { stdin: text }),
        await service.run(['login', '--key-file', file]),
        ...(text.trim() === ''
          ? []
          : [await service.run(['find', 'x', '--city', 'y'], { env: { RESTAURANT_API_KEY: text } })]),
      ];
      for (const run of runs) {
        expect([text, run.exit, run.stdout]).toEqual([text, 4, '']);
        expect([text, shows(run.stderr, '0123456789abcdef')]).toEqual([text, false]);
        expect(run.stderr).toContain('\nhint: ');
      }
    }
    expect(service.requests.length).toBe(before);
    expect(readdirSync(service.home)).not.toContain('.config');
  });

  it('is not caused by white space around a valid key', async () => {
    service.answer(toolText('{"status":"ok","results":[],"total_matches":0}'));
    for (const text of fine) {
      const env = { RESTAURANT_API_KEY: text };
      expect([text, (await service.run(['find', 'x', '--city', 'y'], { env })).exit]).toEqual([text, 0]);
      expect(service.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
    }
  });

  it('is distinguished from a valid key in a file that others may read, which causes a warning', async () => {
    service.answer(toolText('{"status":"ok","results":[],"total_matches":0}'));
    const file = join(service.home, 'open.txt');
    writeFileSync(file, KEY);
    for (const [mode, warns] of [
      [0o644, true],
      [0o640, true],
      [0o604, true],
      [0o600, false],
      [0o400, false],
    ] as const) {
      chmodSync(file, mode);
      const run = await service.run(['login', '--key-file', file], { tty: { stderr: true } });
      expect([
        mode,
        run.exit,
        run.stderr.replace(/\s+/g, ' ').includes(`${file} can be read by other users`),
      ]).toEqual([mode, 0, warns]);
    }
    await service.run(['logout']);
  });
});

describe('the key on the network', () => {
  const KEY = `${PREFIX}0123456789abcdef`;
  const find = ['find', 'x', '--city', 'y'];

  it('is not sent to any URL in a response', async () => {
    const redirects = [301, 302, 303, 307, 308].map(
      (status): Reply =>
        (_, response) =>
          response.writeHead(status, { Location: `${stranger.url}/api/mcp` }).end(),
    );
    const metadata = () => `Bearer error="invalid_token", resource_metadata="${stranger.url}/.well-known/x"`;
    const others: readonly Reply[] = [
      (_, response) => response.writeHead(401, { 'WWW-Authenticate': metadata() }).end(),
      (_, response) =>
        response.writeHead(200, { Refresh: `0;url=${stranger.url}`, Link: `<${stranger.url}>` }).end(),
      (_, response) =>
        response
          .writeHead(200, { 'Content-Type': 'text/event-stream', 'Content-Location': stranger.url })
          .end(`event: endpoint\ndata: ${stranger.url}/messages\n\n`),
      (request, response) => {
        const row = { service_id: 'r', name: 'x', website: stranger.url, image: `${stranger.url}/a.png` };
        const found = { status: 'ok', results: [row], total_matches: 1, next: stranger.url };
        toolText(JSON.stringify(found))(request, response);
      },
    ];
    for (const answer of [...redirects, ...others]) {
      service.answer(answer);
      for (const words of [find, ['lookup', 'r'], ['tools'], ['raw', 'x'], ['call', 'x', 'a=b']]) {
        await service.run(words, { env: { RESTAURANT_API_KEY: KEY } });
      }
    }
    expect(stranger.connections).toBe(0);
  });

  it('is not sent to another service when it is saved', async () => {
    const env = { RESTAURANT_API_KEY: '' };
    const login = ['login', '--key-stdin', '--base-url', 'https://api.example.com', '--no-verify'];
    expect((await service.run(login, { env, stdin: KEY })).exit).toBe(0);
    for (const words of [find, ['lookup', 'r'], ['tools'], ['raw', 'x'], ['status', '--check']]) {
      for (const place of ['--base-url', '--endpoint']) {
        const run = await service.run([...words, place, stranger.url], { env });
        expect([words, run.exit, run.stderr.includes('belongs to https://api.example.com')]).toEqual([
          words,
          4,
          true,
        ]);
      }
    }
    expect(stranger.connections).toBe(0);
    await service.run(['logout'], { env });
  });

  it('is not sent over plain HTTP, also through a proxy', async () => {
    const env = {
      RESTAURANT_API_KEY: KEY,
      RESTAURANT_BASE_URL: 'http://api.example.com',
      HTTP_PROXY: stranger.url,
    };
    for (const words of [find, ['tools'], ['raw', 'x'], ['login', '--key-stdin'], ['status', '--check']]) {
      const run = await service.run(words, { env, stdin: KEY });
      expect([words, run.exit, run.stderr.includes('over plain HTTP')]).toEqual([words, 2, true]);
    }
    expect(stranger.connections).toBe(0);
  });
});

it('an internationalized host is shown in its ASCII form', async () => {
  const words = [
    'login',
    '--key-stdin',
    '--no-verify',
    '--profile',
    'p',
    '--base-url',
    'https://аpple.example',
  ];
  const { exit, stdout } = await service.run(words, { stdin: `${PREFIX}0123456789abcdef` });
  expect([exit, stdout.split('\n')[0]]).toEqual([0, 'Logged in to xn--pple-43d.example (key not verified)']);
});

import { connect, type Socket } from 'node:net';
import { createServer as createSocksServer } from '@pondwader/socks5-server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import { networkError } from '../../../src/client/http/network-error.ts';
import { proxyFor } from '../../../src/client/http/proxy.ts';
import { openTransport } from '../../../src/client/http/transport.ts';
import type { Client } from '../../../src/client/restaurant.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { UNTRUSTED } from '../../helpers/certificate.ts';
import { clientFor, endpointAt, FOUND, failure, KEY, toolReply } from '../../helpers/client.ts';
import { FIND, scripted, serveScript } from '../../helpers/script.ts';
import { closedPort, onEachRequest, rawServer } from '../../helpers/servers.ts';

const REMOTE = new URL('http://service.example/api/mcp');
const find = (client: Client) => client.find({ name: 'Nopa', city: 'SF' });
/** A service that gets as many searches. */
const service = (searches = 1) => serveScript(Array(searches).fill(FIND));

/** Returns a client of a remote service with these variables. */
const clientWith = (env: Record<string, string>, url = REMOTE): Client =>
  clientFor(url, { insecureHttp: true, retries: 0, context: { env } }).client;

/** Serves raw bytes until the test ends. */
async function raw(talk: (socket: Socket) => void, options: Parameters<typeof rawServer>[1] = {}) {
  const server = await rawServer(talk, options);
  onTestFinished(server.close);
  return server;
}

/** Accepts connections and sends nothing. `closed` is resolved when a client closes its connection. */
async function silent(): Promise<{ host: string; closed: Promise<void> }> {
  let onClose = () => {};
  const closed = new Promise<void>((resolve) => {
    onClose = resolve;
  });
  const { port } = await raw((socket) => void socket.resume().on('close', onClose));
  return { host: `127.0.0.1:${port}`, closed };
}

/** Expects an error about a proxy that names it, and that contains no part of its login. */
async function expectProxyError(call: Promise<unknown>, host: string): Promise<string> {
  const error = await failure(call);
  expect(error).toMatchObject({ code: 'network', details: { reason: 'proxy' } });
  expect(error.message).toContain(host);
  const text = `${error.message}\n${hintText(hintFor(error))}`;
  expect(text).not.toMatch(/pa%40ss|pa@ss|alice|wrong/);
  return text;
}

/** A proxy that replies to CONNECT with `answer`, then connects the tunnel to `target`. */
async function serveProxy(
  answer: string,
  target?: URL,
): Promise<{ url: string; host: string; heads: string[] }> {
  const heads: string[] = [];
  const { port } = await raw((socket) => {
    socket.once('data', (head) => {
      heads.push(head.toString());
      socket.write(`HTTP/1.1 ${answer}\r\n\r\n`);
      if (target === undefined) return void socket.end();
      const upstream = connect(Number(target.port), target.hostname).on('error', () => {});
      socket.on('close', () => upstream.destroy());
      socket.pipe(upstream).pipe(socket);
    });
  });
  return { url: `http://alice:pa%40ss@127.0.0.1:${port}`, host: `127.0.0.1:${port}`, heads };
}

describe('a connection', () => {
  it('is reused for consecutive requests', async () => {
    const { client, connections } = await scripted([FIND, FIND, FIND]);
    for (let turn = 0; turn < 3; turn += 1) await find(client);
    expect(connections()).toBe(1);
  });

  it('on which a second response arrives fails no request: the next one uses another connection', async () => {
    const { origin } = await raw((socket) =>
      onEachRequest(socket, ({ body }) => {
        const text = toolReply(JSON.parse(body).id, FOUND);
        const head = `Content-Type: application/json\r\nContent-Length: ${text.length}`;
        socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${text}`);
        setTimeout(() => socket.end('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n'), 1);
      }),
    );
    const { client } = clientFor(endpointAt(origin));
    for (let request = 0; request < 50; request += 1) {
      expect((await find(client)).output).toEqual(FOUND);
    }
  });

  it.each([
    ['a service', (host: string) => `https://${host}`, ''],
    ['a SOCKS proxy', () => REMOTE.href, 'socks5h://'],
  ])(
    'to %s that never replies ends with the call, and nothing stays open after close',
    async (_to, url, proxy) => {
      const { host, closed } = await silent();
      const env = { ALL_PROXY: proxy && proxy + host };
      const options = { insecureHttp: true, timeoutMs: 200, context: { env } };
      const { client } = clientFor(new URL(url(host)), options);
      const message = expect.stringMatching(`^no connection to ${proxy === '' ? host : ''}.* within 200ms$`);
      expect(await failure(find(client))).toMatchObject({ code: 'timeout', message });
      await client.close();
      await closed;
    },
  );

  it('has its own timeout', async () => {
    const { host } = await silent();
    const endpoint = new URL(`https://${host}`);
    const transport = openTransport({ endpoint, env: {}, now: Date.now, connectMs: 100 });
    const limits = { signal: new AbortController().signal, deadline: Date.now() + 10_000, totalMs: 10_000 };
    expect(await failure(transport.send(limits, { method: 'POST', headers: {} }))).toMatchObject({
      code: 'timeout',
      details: { reason: 'connect_timeout' },
      message: `no connection to ${host} within 100ms`,
    });
    await transport.close();
  });
});

describe('a proxy', () => {
  it('gets a CONNECT request with its credentials and without our key', async () => {
    const { url, requests } = await service();
    const proxy = await serveProxy('200 OK', url);
    expect((await find(clientWith({ HTTP_PROXY: proxy.url }))).output).toEqual(FOUND);
    expect(requests[0]?.headers.host).toBe('service.example');
    expect(proxy.heads[0]).toMatch(/^CONNECT service\.example:80 HTTP/);
    expect(proxy.heads[0]).toContain(Buffer.from('alice:pa@ss').toString('base64'));
    expect(proxy.heads[0]).not.toContain(KEY);
  });

  it.each([
    ['407 Proxy Authentication Required', 'requires credentials', 'http://user:password@proxy:port'],
    ['502 Bad Gateway', '502', 'NO_PROXY'],
  ])('that responds with %s is named', async (answer, expected, advice) => {
    const { url, host } = await serveProxy(answer);
    const text = await expectProxyError(find(clientWith({ HTTP_PROXY: url })), host);
    expect(text).toMatch(new RegExp(`${expected}.*\n.*${advice}`));
  });

  it('is not asked again with credentials that it rejected', async () => {
    const { url } = await serveProxy('407 Proxy Authentication Required');
    expect(await failure(find(clientWith({ HTTP_PROXY: url })))).toMatchObject({ retryable: false });
  });

  it('that does not listen is named in the error', async () => {
    const { host } = new URL(await closedPort());
    const text = await expectProxyError(find(clientWith({ http_proxy: host })), host);
    expect(text).toContain(`${host} refused`);
  });

  it('is not used for loopback', async () => {
    const { url } = await service();
    expect((await find(clientWith({ HTTP_PROXY: 'http://127.0.0.1:1' }, url))).output).toEqual(FOUND);
  });

  it.each(['socks4://h:1080', 'ftp://h', 'http://', 'socks5://'])('%s cannot be used', (proxy) => {
    expect(() => proxyFor(REMOTE, { HTTP_PROXY: proxy })).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it.each([
    ['*', false],
    ['service.example', false],
    ['.example', false],
    ['*.example', false],
    ['a, SERVICE.example:80 b', false],
    ['service.example:443', true],
    ['ice.example', true],
    ['', true],
    ['service.example.', false],
    ['.example.', false],
  ])('NO_PROXY=%j', (list, used) => {
    const found = proxyFor(REMOTE, { HTTP_PROXY: 'http://p:1', NO_PROXY: list });
    expect(found !== undefined).toBe(used);
  });

  it.each([
    ['http://192.168.0.1', '192.168.0.0/16', false],
    ['http://192.168.0.1', '10.0.0.0/8,192.168.0.0/16', false],
    ['http://192.169.0.1', '192.168.0.0/16', true],
    ['http://192.168.0.1', '192.168.0.1', false],
    ['http://192.168.0.1', '192.168.0.1:80', false],
    ['http://192.168.0.1', '192.168.0.1:81', true],
    ['http://192.168.0.1', '192.168.0.0/99', true],
    ['http://192.168.0.1', '192.168.0.0/', true],
    ['http://192.168.0.1', '0.0.0.0/0', false],
    ['http://service.example', '10.0.0.0/8', true],
    ['http://[2001:db8::1]', '2001:db8::/65', false],
    ['http://[2001:db8::1]', '2001:db9::/65', true],
    ['http://[2001:db8::1]', '2001:db8:0::1', false],
    ['http://[2001:db8::1]:81', '[2001:db8::1]:81', false],
    ['http://[2001:db8::1]:81', '[2001:db8::1]:80', true],
    ['http://service.example.', 'service.example', false],
    ['http://service.example', 'x/8', true],
  ])('for %s with NO_PROXY=%s is used: %s', (url, list, used) => {
    const found = proxyFor(new URL(url), { HTTP_PROXY: 'http://p:1', NO_PROXY: list });
    expect(found !== undefined).toBe(used);
  });

  it.each([
    [{ ALL_PROXY: 'http://a:1' }, 'a:1'],
    [{ all_proxy: 'http://a:1', ALL_PROXY: 'http://b:1' }, 'a:1'],
    [{ ALL_PROXY: 'http://a:1', HTTP_PROXY: 'http://b:1' }, 'b:1'],
    [{ ALL_PROXY: 'http://a:1', HTTPS_PROXY: 'http://b:1' }, 'a:1'],
    [{ ALL_PROXY: 'socks5h://a:1', NO_PROXY: 'service.example' }, undefined],
  ])('is read from ALL_PROXY if no other variable applies: %j', (env, host) => {
    expect(proxyFor(REMOTE, env)?.url.host).toBe(host);
  });

  it('of the other scheme and an empty variable are ignored', () => {
    expect(proxyFor(REMOTE, { HTTPS_PROXY: 'http://p:1', HTTP_PROXY: '' })).toBeUndefined();
    expect(
      proxyFor(new URL('https://h'), { HTTPS_PROXY: 'http://p:1', https_proxy: 'http://q:2' })?.url.host,
    ).toBe('q:2');
  });
});

/** A SOCKS 5 server that connects every tunnel to `target`; lists the requested addresses. */
async function serveSocks(target: URL, auth?: { username: string; password: string }) {
  const addresses: string[] = [];
  const server = createSocksServer(auth === undefined ? {} : { auth });
  server.setConnectionHandler((connection, sendStatus) => {
    addresses.push(`${connection.destAddress}:${connection.destPort}`);
    if (connection.destAddress === 'refused.example') return void sendStatus('HOST_UNREACHABLE');
    const upstream = connect(Number(target.port), '127.0.0.1', () => {
      sendStatus('REQUEST_GRANTED');
      connection.socket.pipe(upstream).pipe(connection.socket);
    });
    upstream.on('error', () => connection.socket.destroy());
    connection.socket.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
  });
  const { port } = await raw((socket) => void server._handleConnection(socket));
  return { host: `127.0.0.1:${port}`, addresses };
}

describe('a SOCKS proxy', () => {
  const through = (proxy: string, url = REMOTE) => clientWith({ ALL_PROXY: proxy }, url);

  it('carries the requests to a host name that only the proxy knows', async () => {
    const { url, requests } = await service(3);
    const proxy = await serveSocks(url);
    const client = through(`socks5h://${proxy.host}`);
    for (let turn = 0; turn < 3; turn += 1) expect((await find(client)).output).toEqual(FOUND);
    expect(requests[0]?.headers.host).toBe('service.example');
    expect(proxy.addresses).toEqual(['service.example:80']);
  });

  it('gets a locally resolved address with socks5', async () => {
    const { url } = await service();
    const proxy = await serveSocks(url);
    const client = through(`socks5://${proxy.host}`, new URL('http://192.0.2.1:8080/api/mcp'));
    expect((await find(client)).output).toEqual(FOUND);
    expect(proxy.addresses).toEqual(['192.0.2.1:8080']);
    const error = await failure(find(through(`socks5://${proxy.host}`)));
    expect(error).toMatchObject({
      code: 'network',
      message: 'the host name service.example does not exist on this machine (ENOTFOUND)',
      retryable: false,
    });
    expect(hintText(hintFor(error))).toContain(
      `use socks5h://${proxy.host}, which resolves names in the proxy`,
    );
  });

  it('carries TLS with the certificate of the service', async () => {
    const { origin } = await raw(() => {}, { tls: UNTRUSTED });
    const proxy = await serveSocks(new URL(origin));
    const client = through(`socks5h://${proxy.host}`, new URL('https://service.example/'));
    expect(await failure(find(client))).toMatchObject({
      code: 'tls',
      message: expect.stringContaining('service.example'),
    });
    expect(proxy.addresses).toEqual(['service.example:443']);
  });

  it('gets user name and password', async () => {
    const { url } = await service();
    const { host } = await serveSocks(url, { username: 'alice', password: 'pa@ss' });
    expect((await find(through(`socks5h://alice:pa%40ss@${host}`))).output).toEqual(FOUND);
    const rejected = find(through(`socks5h://alice:wrong@${host}`));
    await expectProxyError(rejected, host);
    expect(await failure(rejected)).toMatchObject({ retryable: false });
  });

  it.each([
    ['that cannot reach the service', 'http://refused.example/', 'unreachable'],
    ['that does not listen', undefined, 'refused'],
  ])('%s is named', async (_name, target, expected) => {
    const { url } = await service(0);
    const host = target === undefined ? new URL(await closedPort()).host : (await serveSocks(url)).host;
    const call = find(through(`socks5h://${host}`, new URL(target ?? REMOTE)));
    expect(await expectProxyError(call, host)).toContain(expected);
  });

  it('that closes the connection is named in the error', async () => {
    const { port } = await raw((socket) => socket.end());
    await expectProxyError(find(through(`socks5h://127.0.0.1:${port}`)), `127.0.0.1:${port}`);
  });
});

describe('TLS', () => {
  it('verifies certificates despite NODE_TLS_REJECT_UNAUTHORIZED', async () => {
    const { port } = await raw(() => {}, { tls: UNTRUSTED });
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { client } = clientFor(new URL(`https://localhost:${port}/api/mcp`));
    expect(await failure(find(client))).toMatchObject({ code: 'tls' });
  });

  it('names both hosts for a certificate of another host', () => {
    const wrong = Object.assign(new Error('x'), {
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      cert: { subjectaltname: 'DNS:other.example' },
    });
    const target = new URL('https://service.example/api/mcp');
    const error = networkError(wrong, { target, phase: 'connecting', connectMs: 10_000 });
    expect(error.code).toBe('tls');
    expect(error.message).toContain('is for DNS:other.example, not for service.example');
  });
});

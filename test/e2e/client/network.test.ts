import { connect } from 'node:net';
import { createServer as createSocksServer } from '@pondwader/socks5-server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hintFor } from '../../../src/app/error-hint.ts';
import { networkError } from '../../../src/client/http/network-error.ts';
import { proxyFor } from '../../../src/client/http/proxy.ts';
import { openTransport } from '../../../src/client/http/transport.ts';
import { hintText } from '../../../src/output/hint-text.ts';
import { UNTRUSTED } from '../../helpers/certificate.ts';
import {
  clientFor,
  endpointAt,
  FOUND,
  failure,
  idOf,
  KEY,
  sendJson,
  serve,
  toolReply,
} from '../../helpers/client.ts';
import { closedPort, onEachRequest, rawServer, type TestServer } from '../../helpers/servers.ts';

const QUERY = { name: 'Nopa', city: 'SF' };
const REMOTE = new URL('http://service.example/api/mcp');

/** A proxy that replies to CONNECT with `answer`, then connects the tunnel to `target`. */
async function serveProxy(answer: string, target?: URL): Promise<{ url: string; heads: string[] }> {
  const heads: string[] = [];
  const server = await rawServer((socket) => {
    socket.once('data', (head) => {
      heads.push(head.toString());
      socket.write(`HTTP/1.1 ${answer}\r\n\r\n`);
      if (target === undefined) return void socket.end();
      const upstream = connect(Number(target.port), target.hostname).on('error', () => {});
      socket.on('close', () => upstream.destroy());
      socket.pipe(upstream).pipe(socket);
    });
  });
  onTestFinished(server.close);
  return { url: `http://alice:pa%40ss@127.0.0.1:${server.port}`, heads };
}

const service = () => serve((request, response) => sendJson(response, toolReply(idOf(request.body), FOUND)));

describe('an idle connection on which a second response arrives', () => {
  it('fails no request: the next one uses another connection', async () => {
    const reply = toolReply(1, FOUND).replace('"id":1', '"id":ID');
    const server = await rawServer((socket) => {
      onEachRequest(socket, ({ body }) => {
        const text = reply.replace('ID', String(idOf(body)));
        socket.write(
          `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
        );
        setTimeout(() => socket.end('HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n'), 1);
      });
    });
    onTestFinished(server.close);
    const { client } = clientFor(endpointAt(server.origin));
    for (let request = 0; request < 50; request += 1) {
      expect((await client.find(QUERY)).output).toEqual(FOUND);
    }
  });
});

describe('a proxy', () => {
  it('gets a CONNECT request with its credentials and without our key', async () => {
    const { url, requests } = await service();
    const proxy = await serveProxy('200 OK', url);
    const { client } = clientFor(REMOTE, { insecureHttp: true, context: { env: { HTTP_PROXY: proxy.url } } });
    expect((await client.find(QUERY)).output).toEqual(FOUND);
    expect(requests[0]?.headers.host).toBe('service.example');
    expect(proxy.heads[0]).toMatch(/^CONNECT service\.example:80 HTTP/);
    expect(proxy.heads[0]).toContain(Buffer.from('alice:pa@ss').toString('base64'));
    expect(proxy.heads[0]).not.toContain(KEY);
  });

  it.each([
    ['407 Proxy Authentication Required', 'requires credentials', 'http://user:password@proxy:port'],
    ['502 Bad Gateway', '502', 'NO_PROXY'],
  ])('that responds with %s is named', async (answer, expected, advice) => {
    const proxy = await serveProxy(answer);
    const { client } = clientFor(REMOTE, { insecureHttp: true, context: { env: { HTTP_PROXY: proxy.url } } });
    const error = await failure(client.find(QUERY));
    expect(error).toMatchObject({ code: 'network', details: { reason: 'proxy' } });
    expect(error.message).toContain(expected);
    expect(error.message).toContain(new URL(proxy.url).host);
    const hint = hintText(hintFor(error));
    expect(hint).toContain(advice);
    expect(error.message + hint).not.toMatch(/pa%40ss|pa@ss|alice/);
  });

  it('that does not listen is named in the error', async () => {
    const { port } = new URL(await closedPort());
    const { client } = clientFor(REMOTE, {
      insecureHttp: true,
      context: { env: { http_proxy: `127.0.0.1:${port}` } },
    });
    const error = await failure(client.find(QUERY));
    expect(error).toMatchObject({ code: 'network', details: { reason: 'proxy' } });
    expect(error.message).toContain(`127.0.0.1:${port} refused`);
  });

  it('is not used for loopback', async () => {
    const { url } = await service();
    const { client } = clientFor(url, { context: { env: { HTTP_PROXY: 'http://127.0.0.1:1' } } });
    expect((await client.find(QUERY)).output).toEqual(FOUND);
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
  ])('NO_PROXY=%j', (list, used) => {
    const found = proxyFor(REMOTE, { HTTP_PROXY: 'http://p:1', NO_PROXY: list });
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
  const { port, close } = await rawServer((socket) => void server._handleConnection(socket));
  onTestFinished(close);
  return { host: `127.0.0.1:${port}`, addresses };
}

describe('a SOCKS proxy', () => {
  const through = (proxy: string, url = REMOTE) =>
    clientFor(url, { insecureHttp: true, retries: 0, context: { env: { ALL_PROXY: proxy } } }).client;

  it('carries the requests to a host name that only the proxy knows', async () => {
    const { url, requests } = await service();
    const proxy = await serveSocks(url);
    const client = through(`socks5h://${proxy.host}`);
    for (let turn = 0; turn < 3; turn += 1) expect((await client.find(QUERY)).output).toEqual(FOUND);
    expect(requests[0]?.headers.host).toBe('service.example');
    expect(proxy.addresses).toEqual(['service.example:80']);
  });

  it('gets a locally resolved address with socks5', async () => {
    const { url } = await service();
    const proxy = await serveSocks(url);
    const client = through(`socks5://${proxy.host}`, new URL('http://192.0.2.1:8080/api/mcp'));
    expect((await client.find(QUERY)).output).toEqual(FOUND);
    expect(proxy.addresses).toEqual(['192.0.2.1:8080']);
    const unknown = await failure(through(`socks5://${proxy.host}`).find(QUERY));
    expect(unknown).toMatchObject({ code: 'network', details: { reason: 'proxy' } });
  });

  it('carries TLS with the certificate of the service', async () => {
    const { port, close } = await rawServer(() => {}, { tls: UNTRUSTED });
    onTestFinished(close);
    const proxy = await serveSocks(new URL(`http://127.0.0.1:${port}`));
    const error = await failure(
      through(`socks5h://${proxy.host}`, new URL('https://service.example/')).find(QUERY),
    );
    expect(error).toMatchObject({ code: 'tls' });
    expect(error.message).toContain('service.example');
    expect(proxy.addresses).toEqual(['service.example:443']);
  });

  it('gets user name and password', async () => {
    const { url } = await service();
    const proxy = await serveSocks(url, { username: 'user', password: 'pa@ss' });
    expect((await through(`socks5h://user:pa%40ss@${proxy.host}`).find(QUERY)).output).toEqual(FOUND);
    const error = await failure(through(`socks5h://user:wrong@${proxy.host}`).find(QUERY));
    expect(error).toMatchObject({ code: 'network', details: { reason: 'proxy' } });
    expect(error.message).toContain(proxy.host);
    expect(error.message + hintText(hintFor(error))).not.toMatch(/wrong|user:/);
  });

  it.each([
    ['that cannot reach the service', 'http://refused.example/', 'unreachable'],
    ['that does not listen', undefined, 'refused'],
  ])('%s is named', async (_name, target, expected) => {
    const { url } = await service();
    const host = target === undefined ? new URL(await closedPort()).host : (await serveSocks(url)).host;
    const error = await failure(through(`socks5h://${host}`, new URL(target ?? REMOTE)).find(QUERY));
    expect(error).toMatchObject({ code: 'network', details: { reason: 'proxy' } });
    expect(error.message).toContain(host);
    expect(error.message).toContain(expected);
  });

  it('that never replies leaves nothing open after close', async () => {
    let onClose = () => {};
    const closed = new Promise<void>((resolve) => {
      onClose = resolve;
    });
    const server = await rawServer((socket) => void socket.resume().on('close', onClose));
    onTestFinished(server.close);
    const env = { ALL_PROXY: `socks5h://127.0.0.1:${server.port}` };
    const { client } = clientFor(REMOTE, { insecureHttp: true, timeoutMs: 200, context: { env } });
    expect(await failure(client.find(QUERY))).toMatchObject({ code: 'timeout' });
    await client.close();
    await closed;
  });

  it('that closes the connection is named in the error', async () => {
    const server = await rawServer((socket) => socket.end());
    onTestFinished(server.close);
    const error = await failure(through(`socks5h://127.0.0.1:${server.port}`).find(QUERY));
    expect(error).toMatchObject({ code: 'network', details: { reason: 'proxy' } });
  });
});

describe('TLS', () => {
  it('verifies certificates despite NODE_TLS_REJECT_UNAUTHORIZED', async () => {
    const { port, close } = await rawServer(() => {}, { tls: UNTRUSTED });
    onTestFinished(close);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { client } = clientFor(new URL(`https://localhost:${port}/api/mcp`));
    expect(await failure(client.find(QUERY))).toMatchObject({ code: 'tls' });
  });

  it('rejects an untrusted certificate', async () => {
    const { port, close } = await rawServer(() => {}, { tls: UNTRUSTED });
    onTestFinished(close);
    const { client, slept } = clientFor(new URL(`https://localhost:${port}/api/mcp`));
    const error = await failure(client.find(QUERY));
    expect(error).toMatchObject({ code: 'tls' });
    expect(error.message).toContain(`localhost:${port}`);
    expect(hintText(hintFor(error))).toContain('NODE_EXTRA_CA_CERTS');
    expect(slept).toEqual([]);
  });

  it('reports a port that speaks plain HTTP', async () => {
    const { url } = await service();
    const { client } = clientFor(new URL(url.href.replace('http:', 'https:')));
    const error = await failure(client.find(QUERY));
    expect(error).toMatchObject({ code: 'tls' });
    expect(hintText(hintFor(error))).toContain(`http://${url.host}`);
  });

  it('names both hosts for a certificate of another host', () => {
    const wrong = Object.assign(new Error('x'), {
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      cert: { subjectaltname: 'DNS:other.example' },
    });
    const target = new URL('https://service.example/api/mcp');
    const error = networkError(wrong, { target, phase: 'connecting', connectMs: 10_000 });
    expect(error.code).toBe('tls');
    expect(error.message).toContain('other.example');
    expect(error.message).toContain('service.example');
  });
});

describe('a connection that is never established', () => {
  /** Accepts connections and sends nothing: the TLS handshake never ends. */
  async function silent(): Promise<{ url: URL; server: TestServer; closed: Promise<void> }> {
    let onClose = () => {};
    const closed = new Promise<void>((resolve) => {
      onClose = resolve;
    });
    const server = await rawServer((socket) => void socket.resume().on('close', onClose));
    onTestFinished(server.close);
    return { url: new URL(`https://127.0.0.1:${server.port}/api/mcp`), server, closed };
  }

  it('ends with the call, and nothing stays open after close', async () => {
    const { url, closed } = await silent();
    const { client } = clientFor(url, { timeoutMs: 200 });
    const error = await failure(client.find(QUERY));
    expect(error).toMatchObject({ code: 'timeout' });
    expect(error.message).toBe(`no connection to ${url.host} within 200ms`);
    await client.close();
    await closed;
  });

  it('has its own timeout', async () => {
    const { url } = await silent();
    const transport = openTransport({ endpoint: url, env: {}, now: Date.now, connectMs: 100 });
    const error = await failure(
      transport.send(
        { signal: new AbortController().signal, deadline: Date.now() + 10_000, totalMs: 10_000 },
        { method: 'POST', headers: {} },
      ),
    );
    expect(error).toMatchObject({ code: 'timeout', details: { reason: 'connect_timeout' } });
    expect(error.message).toBe(`no connection to ${url.host} within 100ms`);
    await transport.close();
  });
});

describe('a connection', () => {
  it('is reused for consecutive requests', async () => {
    const { url } = await service();
    const between = await rawServer((socket) => {
      const upstream = connect(Number(url.port), url.hostname).on('error', () => {});
      socket.on('close', () => upstream.destroy());
      socket.pipe(upstream).pipe(socket);
    });
    onTestFinished(between.close);
    const { client } = clientFor(endpointAt(between.origin));
    for (let turn = 0; turn < 4; turn += 1) expect((await client.find(QUERY)).output).toEqual(FOUND);
    expect(between.connections()).toBe(1);
    await client.close();
  });
});

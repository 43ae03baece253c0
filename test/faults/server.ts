import { UNTRUSTED } from '../helpers/certificate.ts';
import { onEachRequest, rawServer, type TestServer } from '../helpers/servers.ts';
import { type Fault, KEY } from './fault.ts';

export interface FaultServer extends TestServer {
  /** First lines of the requests so far. */
  readonly requests: readonly string[];
  /** Variables with which the program uses this server. */
  readonly env: Readonly<Record<string, string>>;
}

/** Serves a fault over raw sockets: its bytes are sent unchanged. */
export async function serveFault({
  reply,
  tls,
  banner,
  host = '127.0.0.1',
  baseUrl,
}: Pick<Fault, 'reply' | 'tls' | 'banner' | 'host' | 'baseUrl'>): Promise<FaultServer> {
  const requests: string[] = [];
  const server = await rawServer(
    (socket) => {
      if (banner !== undefined) return void socket.end(banner);
      onEachRequest(socket, ({ head, body }) => {
        const count = requests.push(head.split('\r\n', 1)[0] ?? '') - 1;
        const id: unknown = body === '' ? undefined : JSON.parse(body).id;
        const bytes = reply({ id, count, head, body, socket });
        if (bytes !== undefined) socket.end(bytes);
      });
    },
    { host, ...(tls === undefined ? {} : { tls: UNTRUSTED }) },
  );
  const env = {
    RESTAURANT_BASE_URL: baseUrl?.(server.port) ?? `http://127.0.0.1:${server.port}`,
    RESTAURANT_API_KEY: KEY,
    RESTAURANT_MAX_AGE: '0',
  };
  return { ...server, requests, env };
}

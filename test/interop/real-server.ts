import { spawn } from 'node:child_process';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { freshHome, type RunOptions, runCli, type Transcript } from '../helpers/program.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const ANYWHERE = 'test/interop/servers/anywhere.mjs';

/** A request on its way to a real server. */
export interface Passed {
  /** The JSON-RPC method, else the HTTP method. */
  readonly what: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly params?: Record<string, unknown> };
}

/** A server of a package in a process of its own, and a way to run commands against it. */
export interface RealServer {
  /** Runs a command with a home that has never heard of the server, or with one of before. */
  run(line: string, options?: RunOptions & { home?: Home }): Promise<Transcript>;
  /** What has passed since the last call of this. */
  passed(): Passed[];
  /** Waits for the next request of this kind. */
  next(kind: string): Promise<void>;
}

export type Home = ReturnType<typeof freshHome>;

export const what = (passed: readonly Passed[]): string[] => passed.map((each) => each.what);

/** Starts `node <script> <args>` around the tests of a `describe`, and counts what is sent to it. */
export function useServer(script: string, ...args: readonly string[]): RealServer {
  const log: Passed[] = [];
  const waiting = new Set<(passed: Passed) => void>();
  let endpoint = '';
  let stop: (() => void) | undefined;
  beforeAll(async () => {
    const server = await start(script, args);
    const proxy = await countingProxy(server.port, (passed) => {
      log.push(passed);
      for (const hear of waiting) hear(passed);
    });
    endpoint = `http://127.0.0.1:${proxy.port}/mcp`;
    stop = () => {
      proxy.close();
      server.kill();
    };
  });
  afterAll(() => stop?.());
  return {
    run: (line, { home = freshHome(), ...options } = {}) =>
      runCli([...line.split(' '), '--endpoint', endpoint], {
        ...options,
        env: { ...home.env, RESTAURANT_API_KEY: 'sk_service_interop_1234', ...options.env },
      }),
    passed: () => log.splice(0),
    next: (kind) =>
      new Promise((resolve) => {
        const hear = (passed: Passed) => {
          if (passed.what !== kind) return;
          waiting.delete(hear);
          resolve();
        };
        waiting.add(hear);
      }),
  };
}

function start(script: string, args: readonly string[]): Promise<{ port: number; kill: () => void }> {
  const child = spawn(process.execPath, [script, ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let told = '';
  return new Promise((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      told += chunk.toString();
      const port = /^PORT (\d+)$/m.exec(told)?.[1];
      if (port !== undefined) resolve({ port: Number(port), kill: () => child.kill('SIGKILL') });
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('exit', (code) => reject(new Error(`${script} ended with ${code}: ${told}`)));
  });
}

/** Passes requests on to the port of a server, telling of each. */
async function countingProxy(
  port: number,
  tell: (passed: Passed) => void,
): Promise<{ port: number; close: () => void }> {
  const proxy = createServer((incoming, response) => {
    void bodyOf(incoming).then((body) => {
      tell(seen(incoming, body));
      const headers = { ...incoming.headers, host: `127.0.0.1:${port}` };
      const onward = request({ port, path: incoming.url, method: incoming.method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        answer.on('error', () => response.destroy());
      });
      response.on('close', () => onward.destroy());
      onward.on('error', () => response.destroy());
      onward.end(body);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  return {
    port: (proxy.address() as AddressInfo).port,
    close: () => {
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function seen({ method = '', headers }: IncomingMessage, text: Buffer): Passed {
  const body = (text.length === 0 ? {} : JSON.parse(text.toString())) as Passed['body'] & { method?: string };
  return { what: body.method ?? method, headers, body };
}

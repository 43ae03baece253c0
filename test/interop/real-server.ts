import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { beforeAll } from 'vitest';
import { type RpcRequest, rpcRequest } from '../helpers/answers.ts';
import { httpServer } from '../helpers/servers.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Servers of packages in separate processes, behind one proxy that records the requests. */
export interface RealServers {
  readonly env: Readonly<Record<string, string>>;
  /** Selects the server that gets further requests. */
  select(name: string): void;
  /** Returns the requests since the server was selected or this function was called. */
  passed(): RpcRequest[];
  /** Resolves when the next response to this method begins. */
  answering(method: string): Promise<void>;
}

/** Starts each server with `node <script> <args>` around the tests of a file. */
export function useServers(servers: Readonly<Record<string, readonly string[]>>): RealServers {
  const log: RpcRequest[] = [];
  const env = { RESTAURANT_BASE_URL: '', RESTAURANT_API_KEY: 'sk_service_interop_1234' };
  const running = new Map<string, { port: number; kill: () => void }>();
  const begun = new EventEmitter();
  let port = 0;
  beforeAll(async () => {
    const started = Object.entries(servers).map(async ([name, args]) => running.set(name, await start(args)));
    await Promise.all(started);
    const proxy = await httpServer((received, response) => {
      const call = rpcRequest(received);
      log.push(call);
      const { method, body } = received;
      const headers = { ...received.headers, host: `127.0.0.1:${port}` };
      const onward = request({ port, path: '/mcp', method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        begun.emit(call.method);
        answer.on('error', () => response.destroy());
      });
      response.on('close', () => onward.destroy());
      onward.on('error', () => response.destroy());
      onward.end(body);
    });
    env.RESTAURANT_BASE_URL = proxy.origin;
    return async () => {
      for (const { kill } of running.values()) kill();
      await proxy.close();
    };
  });
  return {
    env,
    select(name) {
      port = running.get(name)?.port ?? 0;
      log.length = 0;
    },
    passed: () => log.splice(0),
    answering: async (method) => {
      await once(begun, method);
    },
  };
}

function start(words: readonly string[]): Promise<{ port: number; kill: () => void }> {
  const child = spawn(process.execPath, words, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  return new Promise((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      output += chunk.toString();
      const port = /^PORT (\d+)$/m.exec(output)?.[1];
      if (port !== undefined) resolve({ port: Number(port), kill: () => child.kill('SIGKILL') });
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('exit', (code) => reject(new Error(`${words[0]} ended with ${code}: ${output}`)));
  });
}

import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import { type RpcRequest, rpcRequest } from '../helpers/answers.ts';
import { newHome, type RunOptions, runCli, type Transcript } from '../helpers/program.ts';
import { httpServer, type TestServer } from '../helpers/servers.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const ANYWHERE = 'test/interop/servers/anywhere.mjs';

/** A server of a package in a separate process, and functions to run commands against it. */
export interface RealServer {
  /** Runs a command in a new home, or in the given one. */
  run(line: string, options?: RunOptions & { home?: Home }): Promise<Transcript>;
  /** Returns the requests since the last call of this function. */
  passed(): RpcRequest[];
}

export type Home = ReturnType<typeof newHome>;

export const methodsOf = (passed: readonly RpcRequest[]): string[] => passed.map(({ method }) => method);

/** Starts `node <script> <args>` around the tests of a `describe` and records the requests to it. */
export function useServer(script: string, ...args: readonly string[]): RealServer {
  const log: RpcRequest[] = [];
  let endpoint = '';
  let stop: (() => void) | undefined;
  beforeAll(async () => {
    const server = await start(script, args);
    const proxy = await countingProxy(server.port, (passed) => log.push(passed));
    endpoint = `http://127.0.0.1:${proxy.port}/mcp`;
    stop = () => {
      proxy.close();
      server.kill();
    };
  });
  afterAll(() => stop?.());
  return {
    run: (line, { home = newHome(), ...options } = {}) =>
      runCli([...line.split(' '), '--endpoint', endpoint], {
        ...options,
        env: { ...home.env, RESTAURANT_API_KEY: 'sk_service_interop_1234', ...options.env },
      }),
    passed: () => log.splice(0),
  };
}

function start(script: string, args: readonly string[]): Promise<{ port: number; kill: () => void }> {
  const child = spawn(process.execPath, [script, ...args], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  return new Promise((resolve, reject) => {
    const hear = (chunk: Buffer) => {
      output += chunk.toString();
      const port = /^PORT (\d+)$/m.exec(output)?.[1];
      if (port !== undefined) resolve({ port: Number(port), kill: () => child.kill('SIGKILL') });
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('exit', (code) => reject(new Error(`${script} ended with ${code}: ${output}`)));
  });
}

/** Forwards requests to a local port and calls `onRequest` for each. */
async function countingProxy(port: number, onRequest: (passed: RpcRequest) => unknown): Promise<TestServer> {
  return httpServer((received, response) => {
    onRequest(rpcRequest(received));
    const { method, path, body } = received;
    const headers = { ...received.headers, host: `127.0.0.1:${port}` };
    const onward = request({ port, path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    response.on('close', () => onward.destroy());
    onward.on('error', () => response.destroy());
    onward.end(body);
  });
}

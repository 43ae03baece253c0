import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { tempFolder } from './temp-folder.ts';

/** Whether there is a Redis server to test with (Debian: apt-get install redis-server). */
export const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;

export interface TestRedis {
  readonly url: string;
  /** Sends a command in the inline format and returns the reply. */
  send(command: string): Promise<string>;
  /** Shuts the server down; its data remain on the disk. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/**
 * Starts a Redis server that saves each change to its disk, on a port or a Unix socket.
 * @param more options of the server
 */
export async function startRedis(
  place: { port: number } | { socket: string },
  ...more: readonly string[]
): Promise<TestRedis> {
  const folder = tempFolder();
  const words = 'port' in place ? ['--port', `${place.port}`] : ['--port', '0', '--unixsocket', place.socket];
  let server: ChildProcess | undefined;
  const redis: TestRedis = {
    url: 'port' in place ? `redis://127.0.0.1:${place.port}` : `unix://${place.socket}`,
    send: (command) =>
      new Promise((resolve, reject) => {
        const socket = 'port' in place ? connect(place.port, '127.0.0.1') : connect(place.socket);
        socket.on('error', reject);
        socket.on('data', (chunk) => {
          resolve(chunk.toString());
          socket.destroy();
        });
        socket.write(`${command}\r\n`);
      }),
    async stop() {
      const ended = new Promise((resolve) => server?.on('close', resolve));
      server?.kill('SIGTERM');
      await ended;
    },
    async start() {
      const persistent = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
      server = spawn('redis-server', [...words, ...more, '--dir', folder, ...persistent], {
        stdio: 'ignore',
      });
      for (let tries = 0; ; tries += 1) {
        const reply = await redis.send('PING').catch(() => '');
        if (reply.startsWith('+PONG')) return;
        if (tries > 200) throw new Error('redis-server does not start');
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
    },
  };
  onTestFinished(() => {
    server?.kill('SIGKILL');
  });
  await redis.start();
  return redis;
}

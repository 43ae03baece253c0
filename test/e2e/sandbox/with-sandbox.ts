import { afterEach } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/server.ts';

/** Returns a function that starts sandboxes, which are closed when the test ends. */
export function sandboxes(): (options?: SandboxOptions) => Promise<Sandbox> {
  const running: Sandbox[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((sandbox) => sandbox.close()));
  });
  return async (options) => {
    const sandbox = await startSandbox(options);
    running.push(sandbox);
    return sandbox;
  };
}

import { afterAll, beforeAll } from 'vitest';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/server.ts';
import { newHome, type RunOptions, runCli, type Transcript } from './program.ts';

export const PAID = 'sk_service_demo_paid';
export const FREE = 'sk_service_demo_free';
export const REVOKED = 'sk_service_demo_revoked';

/** A sandbox for the tests of a file, and a function that runs commands against it in a separate home. */
export interface ServiceUnderTest {
  readonly sandbox: Sandbox;
  readonly env: Record<string, string>;
  readonly home: string;
  run(argv: readonly string[], options?: RunOptions): Promise<Transcript>;
  /** Returns the number of requests since the last call of this function. */
  sent(): number;
}

/** Starts a sandbox around the tests of a file. By default, responses are not cached and limits are off. */
export function useService(options: SandboxOptions = {}): ServiceUnderTest {
  let sandbox: Sandbox | undefined;
  let counted = 0;
  const { home, env } = newHome();
  const running = (): Sandbox => {
    if (sandbox === undefined) throw new Error('the sandbox is not running');
    return sandbox;
  };
  beforeAll(async () => {
    sandbox = await startSandbox({ perMinute: 0, perDay: 0, ...options });
    Object.assign(env, {
      RESTAURANT_BASE_URL: sandbox.baseUrl,
      RESTAURANT_API_KEY: PAID,
      RESTAURANT_MAX_AGE: '0',
    });
  });
  afterAll(() => sandbox?.close());
  return {
    get sandbox() {
      return running();
    },
    env,
    home,
    run: (argv, own = {}) => runCli(argv, { ...own, env: { ...env, ...own.env } }),
    sent() {
      const total = running().requests.length;
      const since = total - counted;
      counted = total;
      return since;
    },
  };
}

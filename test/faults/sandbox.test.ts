import { describe, expect, it } from 'vitest';
import type { Code } from '../../src/errors.ts';
import { FAULT_KINDS, type FaultKind } from '../../src/sandbox/faults.ts';
import { startSandbox } from '../../src/sandbox/server.ts';
import { newHome, runCli } from '../helpers/program.ts';
import { PAID } from '../helpers/service.ts';
import { skippingClock } from './clock.ts';
import { SEARCH } from './suite.ts';
import { expectSurvived } from './survival.ts';

interface Ending {
  readonly exit: number;
  readonly code: Code;
  /** Number of requests that reach the sandbox, at most three. */
  readonly requests: number;
}

const ENDINGS: Readonly<Record<FaultKind, Ending>> = {
  '401': { exit: 4, code: 'unauthorized', requests: 1 },
  '403': { exit: 4, code: 'forbidden', requests: 1 },
  '429': { exit: 5, code: 'rate_limited', requests: 3 },
  '500': { exit: 7, code: 'http_error', requests: 3 },
  '503': { exit: 7, code: 'http_error', requests: 3 },
  reset: { exit: 6, code: 'network', requests: 3 },
  hang: { exit: 6, code: 'timeout', requests: 1 },
  slow: { exit: 6, code: 'timeout', requests: 1 },
  truncate: { exit: 6, code: 'network', requests: 3 },
  html: { exit: 7, code: 'bad_response', requests: 1 },
  'bad-json': { exit: 7, code: 'bad_response', requests: 2 },
  'bad-text': { exit: 7, code: 'bad_response', requests: 1 },
  'tool-error': { exit: 7, code: 'tool_error', requests: 1 },
  'rpc-error': { exit: 7, code: 'rpc_error', requests: 1 },
  'sse-cut': { exit: 6, code: 'network', requests: 2 },
  'wrong-id': { exit: 7, code: 'bad_response', requests: 1 },
  huge: { exit: 7, code: 'bad_response', requests: 1 },
};
const NEVER_ENDING: readonly FaultKind[] = ['hang', 'slow'];

describe.concurrent.each(['json', 'sse'] as const)('survives sandbox faults in %s responses', (reply) => {
  async function search(kind: FaultKind, first?: number) {
    const sandbox = await startSandbox({
      reply,
      perMinute: 0,
      perDay: 0,
      faults: [{ kind, rate: 1, ...(first === undefined ? {} : { first }) }],
    });
    const { env } = newHome();
    const short = NEVER_ENDING.includes(kind) ? ['--timeout', '300ms'] : [];
    const transcript = await runCli([...SEARCH, '--json', ...short], {
      env: {
        ...env,
        RESTAURANT_BASE_URL: sandbox.baseUrl,
        RESTAURANT_API_KEY: PAID,
        RESTAURANT_MAX_AGE: '0',
      },
      ...skippingClock(),
    });
    const requests = sandbox.requests.length;
    await sandbox.close();
    return { transcript, requests };
  }

  it.each(FAULT_KINDS)('%s', async (kind) => {
    const { requests, ...wanted } = ENDINGS[kind];
    const made = await search(kind);
    expectSurvived(made.transcript, { form: 'json', ...wanted });
    if (NEVER_ENDING.includes(kind)) expect(made.requests).toBeLessThanOrEqual(requests);
    else expect(made.requests).toBe(requests);
  });

  it.each(FAULT_KINDS.filter((kind) => ENDINGS[kind].requests > 1))(
    '%s in the first response only',
    async (kind) => {
      const made = await search(kind, 1);
      expectSurvived(made.transcript, { form: 'json', exit: 0 });
      expect(made.requests).toBe(2);
    },
  );
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Protocol } from '../../src/client/mcp/protocol.ts';
import { AppError, EXIT_CODES, KIND_OF, type Kind } from '../../src/errors.ts';
import { errorJson } from '../../src/output/problem.ts';
import { isObject, toJson } from '../../src/util/json.ts';
import { skippingClock } from '../helpers/clock.ts';
import { fewOrAll } from '../helpers/full.ts';
import { newHome, runCli } from '../helpers/program.ts';
import { httpHead, KEY } from './fault.ts';
import { cook, handshake, recipes } from './replies.ts';
import { serveFault } from './server.ts';
import { cannedClient } from './stub.ts';
import { SEARCH } from './suite.ts';
import { CONTROLS } from './survival.ts';

/** Fixed, so that every run uses the same responses; FUZZ_SEED overrides it. */
const SEED = Number(process.env.FUZZ_SEED ?? 20_261_121);
const RUNS = Number(process.env.FUZZ_RUNS ?? fewOrAll(2000, 10_000));
const OVER_NETWORK = fewOrAll(50, 200);

/** The kinds of error that a response may cause; any other kind would be misleading. */
const KINDS: readonly Kind[] = ['service', 'network', 'auth', 'rate_limit', 'not_found'];
const PROTOCOLS: readonly Protocol[] = ['bare', 'auto', '2025-11-25', '2026-07-28'];
/** Attempts per call, times the messages that detecting the protocol takes. */
const MAX_REQUESTS = 30;

it(`returns a result or an expected error for ${RUNS} mutated responses`, { timeout: 180_000 }, () =>
  fc.assert(
    fc.asyncProperty(recipes, fc.constantFrom(...PROTOCOLS), async (recipe, protocol) => {
      const { client, sent } = cannedClient(
        (id, method) => (method === 'initialize' && recipe.form > 0 ? handshake(id) : cook(id, recipe)),
        protocol,
      );
      const ended = await client.find({ name: 'Nopa', city: 'SF' }).catch((error: unknown) => error);
      // Without `expect`, which would take longer than the code under test.
      if (ended instanceof AppError) {
        if (!KINDS.includes(KIND_OF[ended.code])) throw ended;
        return sent() <= MAX_REQUESTS && !errorJson(ended).includes(KEY);
      }
      if (ended instanceof Error) throw ended;
      return sent() <= MAX_REQUESTS && isAnswer(ended) && !toJson(ended, false).includes(KEY);
    }),
    { seed: SEED, numRuns: RUNS },
  ),
);

const isAnswer = (ended: unknown): boolean =>
  isObject(ended) && isObject(ended.output) && Array.isArray(ended.results);

const FORMATS = ['json', 'table', 'csv', 'tsv', 'ndjson', 'geojson'];

it(`exits with an expected code for ${OVER_NETWORK} mutated responses over the network, in every format`, async () => {
  const made = fc.sample(recipes, { seed: SEED, numRuns: OVER_NETWORK });
  const server = await serveFault({
    reply({ id, head }) {
      const recipe = made[Number(/^\w+ \/(\d+)/.exec(head)?.[1])];
      if (recipe === undefined) return '';
      const { status, type, bytes } = cook(id ?? 1, recipe);
      const first = httpHead(`${status} X\r\nContent-Type: ${type}\r\nContent-Length: ${bytes.length}`);
      return Buffer.concat([Buffer.from(first), bytes]);
    },
  });
  const search = async (at: number): Promise<void> => {
    const format = FORMATS[at % FORMATS.length] ?? 'json';
    const base = { RESTAURANT_BASE_URL: `${server.env.RESTAURANT_BASE_URL}/${at}` };
    const { exit, stdout, stderr } = await runCli([...SEARCH, '--format', format], {
      env: { ...newHome().env, ...server.env, ...base },
      ...skippingClock(),
    });
    const context = `response ${at}, seed ${SEED}: ${fc.stringify(made[at])}`;
    expect([0, EXIT_CODES.partial, ...KINDS.map((kind) => EXIT_CODES[kind])], context).toContain(exit);
    expect(stdout + stderr, context).not.toContain(KEY);
    expect(stdout.replace(/[\t\r]/g, '') + stderr, context).not.toMatch(CONTROLS);
    if (format.endsWith('json') && format !== 'ndjson' && stdout !== '') JSON.parse(stdout);
  };
  const lanes = Array.from({ length: 8 }, (_, lane) => lane);
  await Promise.all(
    lanes.map(async (lane) => {
      for (let at = lane; at < made.length; at += lanes.length) await search(at);
    }),
  );
  await server.close();
}, 180_000);

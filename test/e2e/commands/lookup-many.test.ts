import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { App } from '../../../src/app/app.ts';
import { lookupMany } from '../../../src/app/lookup-many.ts';
import type { ServiceTool } from '../../../src/client/tools.ts';
import { buildProgram } from '../../../src/program.ts';
import { openLedger } from '../../../src/storage/ledger.ts';
import { KEY, type Reply, type RpcRequest, resultText, useScriptedService } from '../../helpers/answers.ts';
import { STANDALONE, startRestaurant } from '../../helpers/process.ts';
import { contextOf } from '../../helpers/program.ts';
import { output } from '../../helpers/script.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const IDS = Array.from({ length: 1200 }, (_each, place) => `id-${place}`);
const service = useScriptedService();
const idOf = ({ params }: RpcRequest): string => String(params.arguments?.restaurant_id);

const found: Reply = (asked, response) =>
  output({ status: 'ok', service_id: idOf(asked), name: `Place ${idOf(asked)}` })(asked, response);
const failed = resultText('{"isError":true,"content":[{"type":"text","text":"out of order"}]}');

/** Runs `lookup -` for ids, each given twice, with a separate state folder and a clock that each wait advances. */
function lookup(ids: readonly string[], words: readonly string[], env: Record<string, string> = {}) {
  const clock = { time: Date.UTC(2025, 0, 1) };
  const own = tempFolder();
  const before = service.requests.length;
  const ledger = openLedger({
    stateDir: own,
    key: KEY,
    endpoint: `${service.url}/api/mcp`,
    now: () => clock.time,
    perMinute: 0,
    perDay: 0,
  });
  // Requests are counted when they are sent and timed when they arrive, so the clock must not advance in between.
  const sleep = async (ms: number, signal?: AbortSignal) => {
    while ((await ledger.usage()).perDay.used > service.requests.length - before) await pause(1);
    signal?.throwIfAborted();
    clock.time += ms;
  };
  const run = service.run(['lookup', '-', ...words], {
    stdin: [...ids, ...ids].join('\n'),
    now: () => clock.time,
    sleep,
    env: { RESTAURANT_STATE_DIR: own, RESTAURANT_CACHE_DIR: own, ...env },
  });
  return { clock, run };
}

describe.skipIf(STANDALONE)('lookup of thousands of ids', () => {
  it('requests each id once, in order, at most four at a time, within the quota, and exits with 8 if some fail', async () => {
    const times: number[] = [];
    const { clock, run } = lookup(IDS, ['--format', 'ndjson'], { RESTAURANT_PER_MINUTE: '300' });
    let open = 0;
    let most = 0;
    service.answer((asked, response) => {
      times.push(clock.time);
      open += 1;
      most = Math.max(most, open);
      setImmediate(() => {
        open -= 1;
        if (idOf(asked).endsWith('50')) failed(asked, response);
        else found(asked, response);
      });
    });
    const { exit, stdout, stderr } = await run;
    expect([exit, most > 1, most <= 4]).toEqual([8, true, true]);
    expect(service.requests.map(idOf).sort()).toEqual([...IDS].sort());
    const records = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(records.map(({ restaurant_id }) => restaurant_id)).toEqual(IDS);
    expect(records.filter(({ error }) => error !== undefined)).toHaveLength(12);
    expect(stderr).toMatch(
      /^(?:warning: .*\n)*error: 12 of 1200 lookups failed: tool_error \(id-50, id-150, id-250 and 9 more\).*\nhint: .*\n$/,
    );
    // Times only increase: a window exceeds the limit if the request 300 later is within the same minute.
    expect(
      times.filter((at, place) => (times[place + 300] ?? Number.POSITIVE_INFINITY) < at + 60_000),
    ).toEqual([]);
  });

  it.each([
    [['--json'], /^(?:warning: the quota per minute is used up; retrying in \d\d s\n)+$/],
    [['--json', '--quiet'], /^$/],
  ])('reports a long pause with %j', async (words, expected) => {
    const ids = IDS.slice(0, 120);
    const { run } = lookup(ids, words, { RESTAURANT_PER_MINUTE: '60' });
    service.answer(found);
    const { exit, stdout, stderr } = await run;
    expect([exit, JSON.parse(stdout).length]).toEqual([0, ids.length]);
    expect(stderr).toMatch(expected);
  });

  it('sends at most four requests ahead of a reader who stops', async () => {
    const app = new App(contextOf({}));
    buildProgram(app);
    let sent = 0;
    const call = async <Query, Result>({ parse }: ServiceTool<Query, Result>) => {
      sent += 1;
      return { value: parse({ status: 'ok' }), text: '' };
    };
    for await (const outcome of lookupMany(app, { call }, IDS, 'basic')) {
      await pause(5);
      if (outcome.restaurantId === 'id-2') break;
    }
    expect(sent).toBeLessThanOrEqual(7);
  });

  it('exits with 5 when the service requests a long wait, and sends no further requests', async () => {
    const before = service.requests.length;
    service.answer((_asked, response) => response.writeHead(429, { 'Retry-After': '3600' }).end());
    const { exit, stderr } = await lookup(IDS, [], { RESTAURANT_PER_MINUTE: '300' }).run;
    expect([exit, stderr]).toEqual([5, expect.stringMatching(/^error: the service asks to wait until /m)]);
    expect(service.requests.length - before).toBeLessThanOrEqual(4);
  });
});

it('lookup of ids from stdin writes each record as soon as it arrives', async () => {
  let seen = 0;
  service.answer((asked, response) => {
    // The last request gets no response.
    if (idOf(asked) !== 'id-9') found(asked, response);
  });
  const run = startRestaurant(['lookup', '-', '--format', 'ndjson'], {
    stdin: IDS.slice(0, 10).join('\n'),
    env: { HOME: service.home, RESTAURANT_BASE_URL: service.url, RESTAURANT_API_KEY: KEY },
  });
  run.process.stdout?.on('data', (text) => {
    seen += String(text).split('\n').length - 1;
    if (seen === 9) run.process.kill('SIGINT');
  });
  expect((await run.ended).exit).toBe(130);
  expect(seen).toBe(9);
});

import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  found,
  KEY,
  type Reply,
  type RpcRequest,
  toolText,
  useScriptedService,
} from '../../helpers/answers.ts';
import { startRestaurant } from '../../helpers/process.ts';
import { newHome } from '../../helpers/program.ts';

const service = useScriptedService();

const names = (count: number): string[] => Array.from({ length: count }, (_each, index) => `r${index}`);
const list = (rows: readonly string[]): string => rows.map((name) => `${name},SF\n`).join('');
/** The name that is searched, or the id that is looked up. */
const wordOf = ({ params: { arguments: { name, restaurant_id: id } = {} } }: RpcRequest) =>
  String(name ?? id);
const foundAs = (name: string): Reply => found({ service_id: `id-${name}`, name });
const failed: Reply = (_request, response) => response.writeHead(500).end();

/** Enriches a list with a reply for each word. */
async function enrich(
  names: readonly string[],
  reply: (word: string, count: number) => Reply | Promise<Reply>,
  ...words: readonly string[]
) {
  let inFlight = 0;
  let mostInFlight = 0;
  let count = 0;
  service.answer(async (request, response) => {
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    const act = await reply(wordOf(request), count++);
    inFlight -= 1;
    act(request, response);
  });
  const options = { stdin: `name,city\n${list(names)}`, env: newHome().env };
  const { exit, stdout } = await service.run(['enrich', '-', ...words], options);
  const rows = stdout.split('\n').slice(1, -1);
  const column = (index: number) => rows.map((row) => row.split(',')[index]);
  return {
    exit,
    rows,
    names: column(0),
    statuses: column(2),
    requests: service.asked.map(wordOf),
    mostInFlight,
  };
}

it('writes every row once, in order, requests each once, and no more at once than allowed', async () => {
  const rows = fc.array(fc.constantFrom(...names(6)), { minLength: 1, maxLength: 30 });
  const delays = fc.infiniteStream(fc.integer({ min: 0, max: 3 }));
  await fc.assert(
    fc.asyncProperty(rows, delays, async (wanted, times) => {
      const reply = async (name: string) => {
        await sleep(times.next().value ?? 0);
        return foundAs(name);
      };
      const run = await enrich(wanted, reply);
      expect(run.names).toEqual(wanted);
      expect(run.requests.toSorted()).toEqual([...new Set(wanted)].sort());
      expect(run.mostInFlight).toBeLessThanOrEqual(4);
    }),
    { numRuns: 25 },
  );
});

it('keeps the service busy when equal rows follow each other', async () => {
  const wanted = names(4).flatMap((name) => [name, name, name, name, name]);
  let start = () => {};
  const together = new Promise<void>((resolve) => {
    start = resolve;
  });
  const { mostInFlight } = await enrich(wanted, async (name, count) => {
    if (count === 3) start();
    await together;
    return foundAs(name);
  });
  expect(mostInFlight).toBe(4);
});

it('writes a row as soon as all earlier rows are done, and ends although the input never ends', async () => {
  service.answer((request, response) => foundAs(wordOf(request))(request, response));
  const env = { ...newHome().env, RESTAURANT_BASE_URL: service.url, RESTAURANT_API_KEY: KEY };
  const running = startRestaurant(['enrich', '-'], { env, holdStdin: true });
  running.process.stdin?.write(`name,city\n${list(['a', 'b'])}`);
  await running.printed('\nb,SF,matched');
  running.process.kill('SIGINT');
  expect((await running.ended).exit).toBe(130);
});

it('looks up each matched restaurant once, and no ambiguous one', async () => {
  const reply = (word: string): Reply => {
    if (word === 'twin') return found({ service_id: 'x', name: 'A' }, { service_id: 'y', name: 'B' });
    return word === 'id-n' ? toolText('{"seats":7}') : found({ service_id: 'id-n', name: 'Nopa' });
  };
  const { requests, rows } = await enrich(['Nopa', 'nopa', 'twin'], reply, '--fields', 'standard');
  expect(requests.toSorted()).toEqual(['Nopa', 'id-n', 'nopa', 'twin']);
  expect(rows.map((row) => row.includes('""seats"":7'))).toEqual([true, true, false]);
});

it('keeps the result of a search whose lookup fails', async () => {
  const reply = (word: string) => (word === 'Nopa' ? foundAs(word) : failed);
  const { rows } = await enrich(['Nopa'], reply, '--fields', 'basic');
  expect(rows).toEqual([
    expect.stringMatching(/^Nopa,SF,matched,exact,1,id-Nopa,Nopa,,.*,http_error: .*500.*,1,$/),
  ]);
});

it('limits a failure to the rows with that query, which is sent once', async () => {
  const reply = (name: string) => (name === 'a' ? failed : foundAs(name));
  const { exit, statuses, requests } = await enrich(['a', 'b', 'a'], reply);
  expect([exit, statuses]).toEqual([8, ['error', 'matched', 'error']]);
  expect(requests.toSorted()).toEqual(['a', 'b']);
});

it('continues while failures are not consecutive', async () => {
  const reply = (name: string) => (Number(name.slice(1)) % 15 === 0 ? foundAs(name) : failed);
  const { exit, rows } = await enrich(names(100), reply);
  expect([exit, rows.length]).toEqual([8, 100]);
});

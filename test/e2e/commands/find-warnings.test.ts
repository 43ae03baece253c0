import { describe, expect, it } from 'vitest';
import { useScriptedService } from '../../helpers/answers.ts';
import { toolReply } from '../../helpers/client.ts';

const service = useScriptedService();

const ROWS = [
  { service_id: 'r-1', name: 'Nopa', grade: 'A', cuisine_tags: ['californian'] },
  { service_id: 'r-2', name: 'Nopalito', grade: 'B', cuisine_tags: ['mexican'] },
];

/** Searches with a service that returns these rows of so many matches. */
function find(
  options: readonly string[],
  {
    rows = ROWS,
    total = 181,
    ...run
  }: { rows?: readonly object[]; total?: number } & Parameters<typeof service.run>[1] = {},
) {
  service.answer(({ id }, response) =>
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(toolReply(id, { status: 'ok', results: rows, total_matches: total })),
  );
  return service.run(['find', 'nopa', '--city', 'sf', '--max-age', '0', ...options], run);
}

const PROGRAM = { RESTAURANT_ERRORS: 'json' };
const SEEN = 'the service returned 2 of 181 matches; filters and order saw only these';
const HINT = 'search for a more specific name';
const jsonLine = (code: string, message: string, hint: string) =>
  `${JSON.stringify({ warning: { code, message, hint } })}\n`;

describe('results of which the service returned only some', () => {
  it.each([
    [['--cuisine', 'mexican']],
    [['--min-grade', 'B']],
    [['--sort', 'name']],
    [['--near', '37.77,-122.43']],
  ])('%j says so in a pipe', async (options) => {
    const { exit, stderr } = await find(options);
    expect([exit, stderr]).toEqual([0, `warning: ${SEEN}: ${HINT}\n`]);
  });

  it('says so at a terminal, without a label', async () => {
    const { stderr } = await find(['--sort', 'name'], { tty: { stderr: true, columns: 200 } });
    expect(stderr).toContain(`${SEEN}: ${HINT}`);
    expect(stderr).not.toContain('warning');
  });

  it.each([
    ['--agent', ['--agent'], {}],
    ['--agent and --json', ['--agent', '--json'], {}],
    ['RESTAURANT_ERRORS=json and --json', ['--json'], PROGRAM],
  ])('says so in one line of JSON with %s', async (_title, options, env) => {
    const { exit, stderr } = await find(['--min-grade', 'A', ...options], { env });
    expect([exit, stderr]).toEqual([0, jsonLine('partial_results', SEEN, HINT)]);
  });

  it.each([[['--json']], [['--quiet']], [['--agent', '--quiet']]])(
    'says nothing with %j',
    async (options) => {
      expect(await find(['--sort', 'name', ...options])).toMatchObject({ exit: 0, stderr: '' });
    },
  );

  it('has received beside shown in JSON', async () => {
    const { stdout } = await find(['--cuisine', 'mexican', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ total_matches: 181, received: 2, shown: 1 });
  });

  it.each([
    ['all matches were returned', ['--sort', 'name'], 2],
    ['nothing was filtered or sorted', ['--limit', '1'], 181],
  ])('is not reported if %s', async (_title, options, total) => {
    const { stderr, stdout } = await find([...options, '--format', 'ndjson'], { total });
    expect(stderr).toBe('');
    expect(stdout).toContain('"Nopa"');
    expect(JSON.parse((await find([...options, '--json'], { total })).stdout).received).toBeUndefined();
  });
});

describe('nothing found', () => {
  const none = { rows: [], total: 0 };
  it.each([
    ['tsv', ''],
    ['ndjson', ''],
    ['list', ''],
    ['csv', 'service_id,name,grade,cuisine_tags,neighborhood,city,address,lat,lng,coverage_level\n'],
  ])('prints what %s has without rows, and one line on stderr', async (format, expected) => {
    const found = await find(['--format', format], none);
    expect(found).toEqual({ exit: 0, stdout: expected, stderr: 'no matches for nopa in sf\n' });
  });

  it('has one line also after filters', async () => {
    const { exit, stdout, stderr } = await find(['--cuisine', 'thai'], { total: 2 });
    expect([exit, stdout, stderr]).toEqual([0, '', 'no matches for nopa in sf with these filters\n']);
  });

  it('gives an agent the hint that a terminal shows', async () => {
    const hint = 'try a shorter name, and check the city name';
    const line = jsonLine('no_match', 'no matches for nopa in sf', hint);
    expect(await find(['--agent', '--json'], none)).toMatchObject({ exit: 0, stderr: line });
    const { stderr } = await find([], { ...none, tty: { stderr: true, columns: 200 } });
    expect(stderr).toContain(`no matches for nopa in sf: ${hint}`);
  });

  it.each([[['--json']], [['--quiet']]])('says nothing with %j', async (options) => {
    expect(await find(options, none)).toMatchObject({ exit: 0, stderr: '' });
  });
});

it('a column that no result has is reported with the command for more', async () => {
  const options = ['--columns', 'name,phone', '--agent'];
  const { exit, stdout, stderr } = await find([...options, '--format', 'tsv'], { total: 2 });
  const { warning } = JSON.parse(stderr);
  expect([exit, stdout]).toEqual([0, 'Nopa\t\nNopalito\t\n']);
  expect(warning).toMatchObject({ code: 'no_such_column', message: "no result has 'phone'" });
  expect(warning.hint).toMatch(/restaurant find nopa .*--columns name,phone .*--fields standard$/);
});

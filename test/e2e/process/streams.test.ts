import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { STANDALONE, shell } from '../../helpers/process.ts';
import { newHome } from '../../helpers/program.ts';
import { httpServer } from '../../helpers/servers.ts';
import { PAID, useService } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const service = useService();
const { home } = newHome();
const ROWS = 20_000;

/** A service with responses of several megabytes. */
const large = await httpServer(({ body }, response) => {
  const results = Array.from({ length: ROWS }, (_, index) => ({
    service_id: `id-${index}`,
    name: `Nopa ${index}`,
    address: 'x'.repeat(250),
  }));
  const output = JSON.stringify({ status: 'ok', results, total_matches: ROWS });
  const result = { content: [{ type: 'text', text: output }] };
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(body).id, result }));
});
afterAll(large.close);

const env = () => ({
  HOME: home,
  RESTAURANT_API_KEY: PAID,
  RESTAURANT_BASE_URL: service.sandbox.baseUrl,
  LARGE: large.origin,
  RESTAURANT_MAX_AGE: '0',
});
const bash = (line: string, cwd = home) => shell(line, { env: env(), cwd });
const FIND = 'restaurant find Nopa --city SF';

describe.concurrent('a reader that closes early', () => {
  it.each([
    [`${FIND} --base-url $LARGE`],
    [`${FIND} --base-url $LARGE --json`],
    [`restaurant raw tools/call '{"name":"x"}' --base-url $LARGE`],
    ['restaurant schema'],
  ])('does not make %s fail', async (command) => {
    const { stdout, stderr } = await bash(`${command} | head -c 20 >/dev/null; echo "\${PIPESTATUS[0]}"`);
    expect([stdout, stderr]).toEqual(['0\n', '']);
  });

  it.skipIf(STANDALONE)('does not make the demo fail', async () => {
    const demo = fileURLToPath(new URL('../../../scripts/demo.js', import.meta.url));
    const line = `'${process.execPath}' '${demo}' | head -1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await bash(line);
    expect([stdout, stderr]).toEqual(['$ restaurant find "Nopa" --city SF --demo\n0\n', '']);
  });

  it('before the first byte causes no error', async () => {
    const { stdout, stderr } = await bash(`{ sleep 0.2; ${FIND}; } | true; echo "\${PIPESTATUS[0]}"`);
    expect([stdout, stderr]).toEqual(['0\n', '']);
  });
});

describe.concurrent('a reader that is slow', () => {
  it('gets every byte', async () => {
    const command = `${FIND} --base-url $LARGE`;
    const { stdout, stderr, exit } = await bash(`set -o pipefail; ${command} | (sleep 1; wc -lc)`);
    expect([exit, stderr]).toEqual([0, '']);
    const [lines = 0, bytes = 0] = stdout.trim().split(/ +/).map(Number);
    expect(lines).toBe(ROWS);
    expect(bytes).toBeGreaterThan(5_000_000);
    const whole = await bash(
      `set -o pipefail; ${command} --json | (sleep 0.5; cat) | jq '.results | length'`,
    );
    expect(whole).toMatchObject({ exit: 0, stdout: `${ROWS}\n` });
  });
});

/** Runs lines concurrently; returns each with its result. */
const together = async <T extends readonly [line: string, ...unknown[]]>(cases: readonly T[]) =>
  Promise.all(cases.map(async (one) => ({ one, line: one[0], ran: await bash(one[0]) })));

const PROBLEM = /^error: .+\nhint: .+\n$/;

describe.concurrent('streams that are closed', () => {
  const calm = (text: string) => expect(text).not.toMatch(/^\s+at |Error:|EBADF|node:/m);

  it('are read as empty for stdin', async () => {
    const cases = [
      [`${FIND} <&-`, 0],
      ['restaurant lookup - <&-', 0],
      ['restaurant raw tools/call - <&-', 2],
      ['restaurant login --key-stdin <&-', 4],
      ['restaurant login <&-', 2],
    ] as const;
    for (const { one, line, ran } of await together(cases)) {
      expect([line, ran.exit]).toEqual([line, one[1]]);
      if (ran.exit === 0) expect(ran.stderr).toBe('');
      else expect(ran.stderr).toMatch(PROBLEM);
    }
  });

  it('change nothing else for stderr', async () => {
    const whole = await bash(FIND);
    const cases = [
      [`${FIND} 2>&-`, whole],
      ['restaurant fnd --json 2>&-', { exit: 2, stdout: '', stderr: '' }],
    ] as const;
    for (const { one, line, ran } of await together(cases)) expect([line, ran]).toMatchObject([line, one[1]]);
  });

  it('cause no stack for stdout or all three', async () => {
    const cases = [
      ['restaurant --help >&-', 0],
      [`${FIND} <&- >&- 2>&-`, 0],
      ['restaurant fnd <&- >&- 2>&-', 2],
    ] as const;
    for (const { one, line, ran } of await together(cases)) {
      calm(ran.stderr);
      expect([line, ran.exit, ran.signal]).toEqual([line, one[1], null]);
    }
  });
});

describe.skipIf(!existsSync('/dev/full')).concurrent('a device that is full', () => {
  it.each(['table', 'json', 'ndjson', 'csv', 'tsv', 'geojson', 'html'])(
    'is reported as stdout of %s',
    async (format) => {
      const { exit, stderr } = await bash(`${FIND} --format ${format} > /dev/full`);
      expect(exit).toBe(9);
      if (format === 'json') expect(JSON.parse(stderr).error.code).toBe('io_error');
      else expect(stderr).toMatch(PROBLEM);
      expect(stderr).toContain('cannot write to stdout: the disk is full');
    },
  );

  it.each([
    [`${FIND} --verbose 2> /dev/full`, 0, /^(.+\n){3}$/, /^$/],
    // The exit code reports an error that cannot be printed.
    [`${FIND} > /dev/full 2>&1`, 9, /^$/, /^$/],
    ['restaurant fnd 2> /dev/full', 2, /^$/, /^$/],
    [
      `${FIND} -o /dev/full`,
      9,
      /^$/,
      /^error: cannot write \/dev\/full: the disk is full\nhint: free some space, or choose another disk: .*\n$/,
    ],
  ])('does not change the rest of %s', async (line, ...expected) => {
    const { exit, stdout, stderr } = await bash(line);
    expect([exit, stdout, stderr]).toEqual([
      expected[0],
      expect.stringMatching(expected[1]),
      expect.stringMatching(expected[2]),
    ]);
  });
});

// There Bun ends with its own message before the program starts.
describe.skipIf(STANDALONE).concurrent('a current folder that was deleted', () => {
  const UNRESOLVED = /^error: cannot resolve .*: the current folder .*was deleted\nhint: .+\n$/;

  it.each<[string, number, RegExp?]>([
    ['--help', 0, /^$/],
    ['find Nopa --city SF -o $HOME/whole.csv', 0, /^$/],
    ['enrich $HOME/list.csv -o $HOME/rows.csv --quiet', 0],
    ['mcp config claude-code --scope user', 0],
    ['skill install claude-code', 0],
    ['find Nopa --city SF -o out.csv', 9, UNRESOLVED],
    ['raw x @params.json', 9, UNRESOLVED],
    ['login --key-file key.txt', 9, UNRESOLVED],
    ['enrich list.csv', 9],
    ['mcp config claude-code --write', 9, /restaurant mcp config claude-code --write --scope user/],
    ['skill install claude-code --scope project', 9, /restaurant skill install claude-code --scope user/],
  ])('is not required, or reported: restaurant %s ends with %i', async (words, exit, stderr = /^/) => {
    writeFileSync(join(home, 'list.csv'), 'name,city\nNopa,SF\n');
    const ran = await bash(`rmdir "$PWD"; restaurant ${words}`, tempFolder());
    expect(ran).toMatchObject({ exit, stderr: expect.stringMatching(stderr) });
    if (exit !== 0) expect(ran.stdout).toBe('');
  });
});

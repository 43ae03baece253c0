import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { found, useScriptedService } from '../../helpers/answers.ts';
import { STANDALONE, shell } from '../../helpers/process.ts';
import { useService } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const service = useService();
const ROWS = 20_000;

const ROW = { name: 'Nopa', address: 'x'.repeat(250) };
/** A service with responses of several megabytes. */
const large = useScriptedService(
  found(...Array.from({ length: ROWS }, (_, id) => ({ service_id: `${id}`, ...ROW }))),
);

const bash = (line: string, cwd = service.home) =>
  shell(line, { env: { ...service.env, LARGE: large.url }, cwd });
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
    // In a home of its own, because it looks up a row of its last search.
    const line = `HOME=$PWD '${process.execPath}' '${demo}' | head -1; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await bash(line, tempFolder());
    expect([stdout, stderr]).toEqual(['$ restaurant find "Nopa" --city SF --demo\n0\n', '']);
  });

  it('before the first byte causes no error', async () => {
    const { stdout, stderr } = await bash(`{ sleep 0.2; ${FIND}; } | true; echo "\${PIPESTATUS[0]}"`);
    expect([stdout, stderr]).toEqual(['0\n', '']);
  });
});

describe.concurrent('a reader that is slow', () => {
  it('gets every byte', async () => {
    const command = `set -o pipefail; ${FIND} --base-url $LARGE`;
    const { stdout, stderr, exit } = await bash(`${command} | (sleep 1; wc -lc)`);
    expect([exit, stderr]).toEqual([0, '']);
    const [lines = 0, bytes = 0] = stdout.trim().split(/ +/).map(Number);
    expect(lines).toBe(ROWS);
    expect(bytes).toBeGreaterThan(5_000_000);
    const whole = await bash(`${command} --json | (sleep 0.5; cat) | jq '.results | length'`);
    expect(whole).toMatchObject({ exit: 0, stdout: `${ROWS}\n` });
  });
});

const NOTHING = /^$/;
const THREE_ROWS = /^(.+\n){3}$/;
const PROBLEM = /^error: .+\nhint: .+\n$/;
const FULL = '> /dev/full';

describe.concurrent('a stream that is closed', () => {
  it.each<[line: string, exit: number, stdout: RegExp, stderr: RegExp]>([
    [`${FIND} <&-`, 0, THREE_ROWS, NOTHING],
    ['restaurant lookup - <&-', 0, NOTHING, NOTHING],
    ['restaurant raw tools/call - <&-', 2, NOTHING, PROBLEM],
    ['restaurant login --key-stdin <&-', 4, NOTHING, PROBLEM],
    ['restaurant login <&-', 2, NOTHING, PROBLEM],
    [`${FIND} 2>&-`, 0, THREE_ROWS, NOTHING],
    ['restaurant fnd --json 2>&-', 2, NOTHING, NOTHING],
    ['restaurant --help >&-', 0, NOTHING, NOTHING],
    [`${FIND} <&- >&- 2>&-`, 0, NOTHING, NOTHING],
    ['restaurant fnd <&- >&- 2>&-', 2, NOTHING, NOTHING],
  ])('is read as empty, or written in vain: %s', expectEnd);
});

describe.skipIf(!existsSync('/dev/full')).concurrent('a device that is full', () => {
  const NO_STDOUT = /^error: cannot write to stdout: the disk is full\nhint: .+\n$/;
  const NO_FILE =
    /^error: cannot write \/dev\/full: the disk is full\nhint: free some space, or choose another disk: .*\n$/;

  it.each<[line: string, exit: number, stdout: RegExp, stderr: RegExp]>([
    ...['table', 'ndjson', 'csv', 'tsv', 'geojson', 'html'].map(
      (format) =>
        [`${FIND} --format ${format} ${FULL}`, 9, NOTHING, NO_STDOUT] as [string, 9, RegExp, RegExp],
    ),
    [
      `${FIND} --json ${FULL}`,
      9,
      NOTHING,
      /^\{"error":\{"code":"io_error",.*stdout: the disk is full.*\}\n$/,
    ],
    [`restaurant --help ${FULL}`, 9, NOTHING, NO_STDOUT],
    [`restaurant --version ${FULL}`, 9, NOTHING, NO_STDOUT],
    [`${FIND} -o /dev/full`, 9, NOTHING, NO_FILE],
    [`${FIND} --verbose 2${FULL}`, 0, THREE_ROWS, NOTHING],
    // The exit code reports an error that cannot be printed.
    [`${FIND} ${FULL} 2>&1`, 9, NOTHING, NOTHING],
    [`restaurant fnd 2${FULL}`, 2, NOTHING, NOTHING],
  ])('is reported: %s', expectEnd);
});

async function expectEnd(line: string, exit: number, stdout: RegExp, stderr: RegExp): Promise<void> {
  const expected = { stdout: expect.stringMatching(stdout), stderr: expect.stringMatching(stderr) };
  expect(await bash(line)).toEqual({ exit, signal: null, ...expected });
}

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
    writeFileSync(join(service.home, 'list.csv'), 'name,city\nNopa,SF\n');
    const ran = await bash(`rmdir "$PWD"; restaurant ${words}`, tempFolder());
    expect(ran).toMatchObject({ exit, stderr: expect.stringMatching(stderr) });
    if (exit !== 0) expect(ran.stdout).toBe('');
  });
});

import { existsSync, mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shell } from '../helpers/process.ts';
import { freshHome } from '../helpers/program.ts';
import { PAID, useService } from '../helpers/service.ts';

const service = useService();
const { home } = freshHome();
const ROWS = 20_000;

/** A service whose answers are several megabytes large. */
const large = createServer(async (request, response) => {
  let text = '';
  for await (const chunk of request) text += chunk;
  const results = Array.from({ length: ROWS }, (_, index) => ({
    service_id: `id-${index}`,
    name: `Nopa ${index}`,
    address: 'x'.repeat(250),
  }));
  const output = JSON.stringify({ status: 'ok', results, total_matches: ROWS });
  const result = { content: [{ type: 'text', text: output }] };
  response.setHeader('Content-Type', 'application/json');
  response.end(JSON.stringify({ jsonrpc: '2.0', id: JSON.parse(text).id, result }));
});
beforeAll(() => new Promise<void>((resolve) => large.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  large.closeAllConnections();
  large.close();
});

const env = () => ({
  HOME: home,
  RESTAURANT_API_KEY: PAID,
  RESTAURANT_BASE_URL: service.sandbox.baseUrl,
  LARGE: `http://127.0.0.1:${(large.address() as AddressInfo).port}`,
  RESTAURANT_MAX_AGE: '0',
});
const bash = (line: string, cwd = home) => shell(line, { env: env(), cwd });
const FIND = 'restaurant find Nopa --city SF';

describe('a reader that goes away', () => {
  it.each([
    [`${FIND} --base-url $LARGE`],
    [`${FIND} --base-url $LARGE --json`],
    [`${FIND} --base-url $LARGE --format ndjson`],
    [`restaurant raw tools/call '{"name":"x"}' --base-url $LARGE`],
    ['restaurant schema'],
  ])('%s: is no failure', async (command) => {
    const { stdout, stderr } = await bash(`${command} | head -c 20 >/dev/null; echo "\${PIPESTATUS[0]}"`);
    expect([stdout, stderr]).toEqual(['0\n', '']);
  });

  it('that was never there is none either', async () => {
    for (const command of [FIND, 'restaurant --help']) {
      const { stdout, stderr } = await bash(`{ sleep 0.2; ${command}; } | true; echo "\${PIPESTATUS[0]}"`);
      expect([command, stdout, stderr]).toEqual([command, '0\n', '']);
    }
  });
});

describe('a reader that is slow', () => {
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

describe('streams that are closed', () => {
  const calm = (text: string) => expect(text).not.toMatch(/^\s+at |Error:|EBADF|node:/m);

  it('stdin: is empty', async () => {
    for (const [command, exit] of [
      [FIND, 0],
      ['restaurant lookup -', 0],
      ['restaurant raw tools/call -', 2],
      ['restaurant login --key-stdin', 4],
      ['restaurant login', 2],
      ['restaurant --help', 0],
    ] as const) {
      const ran = await bash(`${command} <&-`);
      expect([command, ran.exit]).toEqual([command, exit]);
      calm(ran.stderr);
      if (exit === 0) expect(ran.stderr).toBe('');
      else expect(ran.stderr).toMatch(/^error: .+\nhint: .+\n$/);
    }
  });

  it('stderr: changes nothing else', async () => {
    const whole = await bash(FIND);
    expect(await bash(`${FIND} 2>&-`)).toEqual(whole);
    expect(await bash(`${FIND} --verbose 2>&-`)).toEqual(whole);
    for (const [command, exit] of [
      ['restaurant fnd', 2],
      ['restaurant fnd --json', 2],
      [`${FIND} --base-url http://127.0.0.1:9 --retries 0`, 6],
    ] as const) {
      expect([command, await bash(`${command} 2>&-`)]).toMatchObject([
        command,
        { exit, stdout: '', stderr: '' },
      ]);
    }
  });

  it('stdout, and all of them: without a stack', async () => {
    for (const command of [FIND, 'restaurant --help', 'restaurant fnd']) {
      const ran = await bash(`${command} >&-`);
      calm(ran.stderr);
      expect(ran.signal).toBeNull();
      expect((await bash(`${command} <&- >&- 2>&-`)).exit).toBe(ran.exit);
    }
  });
});

describe('a device that is full', () => {
  it.skipIf(!existsSync('/dev/full'))('is told in one line, also where -o names it', async () => {
    for (const command of [
      `${FIND} > /dev/full`,
      `${FIND} --format ndjson > /dev/full`,
      `${FIND} -o /dev/full`,
    ]) {
      const { exit, stdout, stderr } = await bash(command);
      expect([command, exit, stdout]).toEqual([command, 9, '']);
      expect(stderr).toMatch(/^error: cannot write .*: the disk is full\nhint: .*\n$/);
    }
    // Where the error cannot be told either, the exit code still says it.
    expect((await bash(`${FIND} > /dev/full 2>&1`)).exit).toBe(9);
    expect((await bash('restaurant fnd 2> /dev/full')).exit).toBe(2);
  });
});

describe('a folder that was deleted', () => {
  it('is not needed, and is named where it is', async () => {
    const gone = () => mkdtempSync(join(tmpdir(), 'restaurant-gone-'));
    for (const command of [
      FIND,
      'restaurant --help',
      'restaurant status',
      'restaurant schema',
      `${FIND} --demo`,
    ]) {
      const { exit, stderr } = await bash(`rmdir "$PWD"; ${command}`, gone());
      expect([command, exit, stderr]).toEqual([command, 0, '']);
    }
    for (const command of [
      `${FIND} -o out.csv`,
      'restaurant raw x @params.json',
      'restaurant login --key-file key.txt',
    ]) {
      const { exit, stdout, stderr } = await bash(`rmdir "$PWD"; ${command}`, gone());
      expect([command, [2, 9].includes(exit ?? 0), stdout]).toEqual([command, true, '']);
      expect(stderr).toMatch(/^error: .*folder.*\nhint: .+\n$/);
    }
    expect((await bash(`rmdir "$PWD"; ${FIND} -o ${join(home, 'whole.csv')}`, gone())).exit).toBe(0);
  });
});

describe('the two streams', () => {
  it('hold data and messages apart', async () => {
    const data = await bash(`${FIND} --verbose 2>/dev/null | wc -l`);
    expect(data.stdout).toBe('3\n');
    const messages = await bash(`${FIND} --verbose >/dev/null`);
    expect(messages.stdout).toBe('');
    expect(messages.stderr).toMatch(/^> POST /m);
  });
});

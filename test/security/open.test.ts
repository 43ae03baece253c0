import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useService } from '../helpers/service.ts';
import { IS_ROOT, KEY, MALLORY, sharedFolder, useProgram } from './support.ts';

const { run } = useProgram();
const service = useService({ auth: false });
const FIND = ['find', 'Nopa', '--city', 'SF', '--open'];

/**
 * Runs a search with `--open`. The browser runs `before`, fetches the page, and records the response.
 */
async function open(before = 'Promise.resolve()') {
  const home = sharedFolder();
  const browser = join(home, 'browser');
  const seen = join(home, 'seen.json');
  writeFileSync(
    browser,
    `#!${process.execPath}
const fs = require('node:fs');
const words = process.argv.slice(2);
const url = words.at(-1);
(async () => {
  const attack = await ${before};
  const page = await fetch(url).then((reply) => reply.text(), (error) => String(error));
  const record = { key: process.env.RESTAURANT_API_KEY ?? null, page: page.slice(-8), attack };
  fs.writeFileSync(${JSON.stringify(`${seen}.tmp`)}, JSON.stringify(record));
  fs.renameSync(${JSON.stringify(`${seen}.tmp`)}, ${JSON.stringify(seen)});
})();
`,
  );
  chmodSync(browser, 0o755);
  const env = { HOME: home, BROWSER: browser, RESTAURANT_BASE_URL: service.sandbox.baseUrl };
  const { exit, stdout } = await run(FIND, { env });
  await expect.poll(() => existsSync(seen), { timeout: 20_000 }).toBe(true);
  return { exit, path: stdout.trim(), ...JSON.parse(readFileSync(seen, 'utf8')) };
}

it('the browser gets the page, but no key in its environment', async () => {
  const { exit, key, page, path } = await open();
  expect([exit, key, page]).toEqual([0, null, '</html>\n']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, 'utf8')).not.toContain(KEY);
});

it.runIf(IS_ROOT)('another user who knows the address does not get the page; the browser does', async () => {
  const script = 'fetch(process.argv[1]).then((reply) => console.log(reply.status))';
  const attack = `require('node:child_process').spawnSync('setpriv', ['--reuid=${MALLORY}', '--regid=${MALLORY}',
    '--clear-groups', process.execPath, '-e', ${JSON.stringify(script)}, url], { encoding: 'utf8' }).stdout`;
  const { attack: status, page } = await open(attack);
  expect([status, page]).toEqual(['404\n', '</html>\n']);
});

it('a request with another address, host or method gets nothing', async () => {
  const attack = `Promise.all([
    fetch(new URL('/', url)), fetch(new URL('/0'.repeat(16), url)), fetch(url, { method: 'POST' }),
    fetch(url + '?x'), fetch(url.replace('127.0.0.1', 'localhost')),
  ].map((reply) => reply.then(({ status }) => status, () => 0)))`;
  const { attack: statuses } = await open(attack);
  expect(statuses.filter((status: number) => status === 200)).toEqual([]);
});

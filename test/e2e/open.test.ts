import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { browserCommand, missingBrowserReason } from '../../src/app/page.ts';
import { newHome } from '../helpers/program.ts';
import { PAID, useService } from '../helpers/service.ts';

const service = useService();

/** Creates a browser that fetches the given URL and stores the page. */
function useBrowser(
  body = "fetch(url).then((answer) => answer.text()).then((text) => fs.writeFileSync(seen, url + '\\n' + text))",
) {
  const { home, env } = newHome();
  const seen = join(home, 'seen');
  const path = join(home, 'browser');
  writeFileSync(
    path,
    `#!${process.execPath}\nconst fs = require('node:fs');\nconst url = process.argv.at(-1);\nconst seen = ${JSON.stringify(seen)};\n${body};\n`,
  );
  chmodSync(path, 0o755);
  return { home, path, seen, env: { ...service.env, ...env, BROWSER: path, PATH: process.env.PATH } };
}

const FIND = ['find', 'Nopa', '--city', 'SF', '--open'];

describe('--open', () => {
  it('serves the page on a loopback address and stores it in a private file', async () => {
    const { env, seen, home } = useBrowser();
    const { exit, stdout, stderr } = await service.run(FIND, { env });
    expect([exit, stderr]).toEqual([0, '']);
    const path = stdout.trim();
    expect(path.startsWith(join(home, '.cache/restaurant/pages/restaurant-nopa-in-sf-'))).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    // The browser may still write.
    await expect
      .poll(() => existsSync(seen) && readFileSync(seen, 'utf8').endsWith('</html>\n'), { timeout: 30_000 })
      .toBe(true);
    const [url = '', ...text] = readFileSync(seen, 'utf8').split('\n');
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);
    expect(text.join('\n')).toBe(readFileSync(path, 'utf8'));
    expect(text.join('\n')).not.toContain(PAID);
    // The page is served only once.
    await expect(fetch(url)).rejects.toThrow();
  });

  /** Runs a search whose browser evaluates `attack`, then fetches the page. @returns the value, and the end of the page */
  async function attacked(attack: string): Promise<[unknown, string]> {
    const { env, seen } = useBrowser(`(async () => {
      const value = await ${attack};
      const page = await fetch(url).then((reply) => reply.text(), String);
      fs.writeFileSync(seen + '.tmp', JSON.stringify([value, page.slice(-8)]));
      fs.renameSync(seen + '.tmp', seen);
    })()`);
    expect((await service.run(FIND, { env })).exit).toBe(0);
    await expect.poll(() => existsSync(seen), { timeout: 30_000 }).toBe(true);
    return JSON.parse(readFileSync(seen, 'utf8'));
  }

  it('gives the browser no key in its environment', async () => {
    expect(await attacked("process.env.RESTAURANT_API_KEY ?? 'none'")).toEqual(['none', '</html>\n']);
  });

  it('gives the page to no request with another address, host, or method', async () => {
    const [statuses] = await attacked(`Promise.all([
      fetch(new URL('/', url)), fetch(new URL('/0'.repeat(16), url)), fetch(url, { method: 'POST' }),
      fetch(url + '?x'), fetch(url.replace('127.0.0.1', 'localhost')),
    ].map((reply) => reply.then(({ status }) => status, () => 0)))`);
    expect(statuses).toHaveLength(5);
    expect(statuses).not.toContain(200);
  });

  it('accepts a browser that closes the connection right after the last byte', async () => {
    const { env } = useBrowser(`const { host, hostname, port, pathname } = new URL(url);
      const socket = require('node:net').connect(port, hostname);
      let text = '';
      socket.setEncoding('utf8').on('data', (part) => {
        text += part;
        if (text.endsWith('</html>\\n')) socket.destroy();
      });
      socket.write('GET ' + pathname + ' HTTP/1.1\\r\\nHost: ' + host + '\\r\\n\\r\\n');`);
    const { exit, stderr } = await service.run(FIND, { env, tty: { stderr: true } });
    expect([exit, stderr]).toEqual([0, expect.stringContaining('shown in the browser')]);
  });

  it('opens the file of -o and prints nothing on stdout', async () => {
    const { env, home } = useBrowser();
    const file = join(home, 'nopa.html');
    const options = { env, tty: { stderr: true } };
    const { exit, stdout, stderr } = await service.run([...FIND, '-o', file], options);
    expect([exit, stdout]).toEqual([0, '']);
    expect(stderr).toContain('shown in the browser');
    expect(readFileSync(file, 'utf8')).toContain('<h1 dir="auto">Nopa in SF</h1>');
  });

  it.each([
    ['--no-input', ['--no-input'], {}, 'not shown'],
    ['CI', [], { CI: 'true' }, 'not shown'],
    ['no display', [], { BROWSER: '' }, 'there is no display'],
    ['no such program', [], { BROWSER: '/no/such/browser' }, '/no/such/browser cannot be started'],
  ])('prints the path and succeeds with %s', async (_, more, own, message) => {
    const { env } = useBrowser();
    const options = { env: { ...env, ...own }, tty: { stderr: true } };
    const { exit, stdout, stderr } = await service.run([...FIND, ...more], options);
    expect(exit).toBe(0);
    expect(readFileSync(stdout.trim(), 'utf8')).toContain('</html>');
    expect(stderr).toContain(message);
  });

  it('reports when the browser fails and when it never requests the page', async () => {
    const failing = useBrowser('process.exit(3)');
    const tty = { stderr: true };
    const failed = await service.run(FIND, { env: failing.env, tty });
    expect([failed.exit, failed.stderr]).toEqual([0, expect.stringContaining('failed (3)')]);
    const idle = useBrowser('');
    const waited: number[] = [];
    const sleep = async (ms: number): Promise<void> => {
      waited.push(ms);
    };
    const { exit, stderr } = await service.run([...FIND, '--verbose'], { env: idle.env, sleep });
    expect([exit, waited]).toEqual([0, [20_000]]);
    expect(stderr).toContain('no browser requested it in 20 seconds');
  });

  it('deletes stored pages after a week, and with cache clear', async () => {
    const { env, home } = useBrowser();
    const folder = join(home, '.cache/restaurant/pages');
    const first = (await service.run([...FIND, '--no-input'], { env })).stdout.trim();
    utimesSync(first, 0, 0);
    writeFileSync(join(folder, 'mine.html'), 'mine');
    const second = (await service.run([...FIND, '--no-input'], { env })).stdout.trim();
    expect(
      readdirSync(folder)
        .map((name) => join(folder, name))
        .sort(),
    ).toEqual([join(folder, 'mine.html'), second].sort());
    await service.run(['cache', 'clear'], { env });
    expect(readdirSync(folder)).toEqual(['mine.html']);
  });

  it.each([
    [[...FIND, '--json'], '--open and --json'],
    [[...FIND, '--format', 'csv'], '--open and --format'],
    [[...FIND, '-o', 'x.csv'], 'x.csv has another extension'],
    [[...FIND, '--dry-run'], '--open and --dry-run'],
    [['call', 'find_restaurant', 'name=x', '--open'], 'call does not accept --open'],
    [['call', 'find_restaurant', 'name=x', '--format', 'html'], '--format html: call prints table'],
    [['call', 'find_restaurant', 'name=x', '-o', 'x.html'], '-o x.html: call cannot write html'],
  ])('is rejected with a conflicting option: %j', async (words, message) => {
    service.sent();
    const { exit, stderr } = await service.run(words);
    expect(exit).toBe(2);
    expect(stderr).toContain(message);
    expect(service.sent()).toBe(0);
  });

  it('is not required for the html format, which commands without a page ignore', async () => {
    const env = { RESTAURANT_FORMAT: 'html' };
    expect((await service.run(['find', 'Nopa', '--city', 'SF'], { env })).stdout).toMatch(/^<!doctype html>/);
    const { exit, stdout } = await service.run(['call', 'find_restaurant', 'name=Nopa', 'city=SF'], { env });
    expect([exit, stdout.includes('<html')]).toEqual([0, false]);
  });
});

describe('the browser', () => {
  const url = 'http://127.0.0.1:1/x/';
  it.each([
    [{ BROWSER: 'firefox' }, 'linux', ['firefox', url]],
    [{ BROWSER: 'firefox -P "work":w3m' }, 'linux', ['firefox', '-P', '"work"', url]],
    [{ BROWSER: 'run %s now' }, 'linux', ['run', url, 'now']],
    [{ BROWSER: ' ' }, 'linux', ['xdg-open', url]],
    [{}, 'linux', ['xdg-open', url]],
    [{ WSL_DISTRO_NAME: 'Debian' }, 'linux', ['wslview', url]],
    [{}, 'darwin', ['open', url]],
    [{ BROWSER: 'C:\\Program Files\\b.exe' }, 'win32', ['C:\\Program Files\\b.exe', url]],
    [{}, 'win32', ['rundll32', 'url.dll,FileProtocolHandler', url]],
  ] as const)('of %j on %s', (env, platform, words) => {
    expect(browserCommand({ env, platform }, url)).toEqual(words);
  });

  it('requires a display unless BROWSER is set', () => {
    const why = (env: Record<string, string>, platform: NodeJS.Platform = 'linux') =>
      missingBrowserReason({ env, platform });
    expect(why({})).toContain('no display');
    for (const name of ['DISPLAY', 'WAYLAND_DISPLAY', 'WSL_DISTRO_NAME', 'BROWSER'])
      expect(why({ [name]: 'x' })).toBeUndefined();
    expect(why({}, 'darwin')).toBeUndefined();
  });
});

import { execFileSync } from 'node:child_process';
import { chownSync, closeSync, constants, linkSync, openSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { attempt } from '../../src/errors.ts';
import { openDevice } from '../../src/storage/user-files.ts';
import { resolveOutput, windowsProblem } from '../../src/storage/user-paths.ts';
import { shell, startRestaurant, until } from '../helpers/process.ts';
import { contextOf } from '../helpers/program.ts';
import { useService } from '../helpers/service.ts';
import { IS_ROOT, MALLORY, useProgram } from './support.ts';

const service = useService({ auth: false });
const { run, home } = useProgram(() => service.sandbox.baseUrl);
const FIND = ['find', 'Nopa', '--city', 'SF'];
/** The options of a process in a home with a pipe. */
const inHome = () => ({ env: { ...service.env, HOME: home.path }, cwd: home.path });

describe('a named pipe', () => {
  let pipe = '';
  beforeEach(() => {
    pipe = home.at('pipe');
    execFileSync('mkfifo', [pipe]);
  });

  it.each([
    [['enrich', 'pipe']],
    [['call', 'find_restaurant', '--args', '@pipe']],
    [['call', 'find_restaurant', 'name=@pipe', 'city=SF']],
    [['raw', 'tools/call', '@pipe']],
    [['sandbox', '--data', 'pipe']],
    [['login', '--no-verify', '--key-file', 'pipe']],
    [[...FIND, '-o', 'pipe']],
  ])('whose other end is silent does not keep Ctrl-C from %j', async (words) => {
    service.sent();
    const running = startRestaurant(words, { ...inHome(), timeout: 10_000 });
    let writer: number | undefined;
    const isWaiting = () => {
      if (words[0] === 'find') return service.sent() > 0;
      writer ??= attempt(() => openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
      return writer !== undefined;
    };
    await until(isWaiting, running);
    running.process.kill('SIGINT');
    expect(await running.ended).toMatchObject({ exit: 130, signal: null });
    if (writer !== undefined) closeSync(writer);
  });

  it.each([
    ['restaurant enrich <(cat list.csv) --quiet', 'Nopa,SF,matched'],
    [
      'cat list.csv | restaurant enrich /dev/stdin -o /dev/stdout --format csv --quiet | cat',
      'Nopa,SF,matched',
    ],
    ['restaurant enrich list.csv -o pipe --format csv --quiet & cat pipe', 'Nopa,SF,matched'],
    ['cat list.csv > pipe & restaurant enrich pipe --quiet', 'Nopa,SF,matched'],
    ['restaurant find Nopa --city SF --format csv -o >(cat); wait $!', ',Nopa,'],
    ['restaurant call find_restaurant --args @<(echo \'{"name":"Nopa","city":"SF"}\') --json', '"Nopa"'],
    ['restaurant find Nopa --city SF -o /dev/null --format csv; echo $?', '0\n'],
  ])('works in %s', async (line, text) => {
    home.write('list.csv', 'name,city\nNopa,SF\n');
    const { stdout } = await shell(line, inHome());
    expect(stdout).toContain(text);
  });

  it('is not written after it was replaced by a link to a file', async () => {
    const diary = home.write('diary', 'mine\n');
    const target = resolveOutput(pipe, contextOf({}), { force: false });
    rmSync(pipe);
    symlinkSync(diary, pipe);
    const { signal } = new AbortController();
    await expect(openDevice(target, signal)).rejects.toMatchObject({ code: 'ESYMLINK' });
    rmSync(pipe);
    linkSync(diary, pipe);
    await expect(openDevice(target, signal)).rejects.toMatchObject({ code: 'io_error' });
    expect(home.read('diary')).toBe('mine\n');
  });

  it.runIf(IS_ROOT)('of another user is refused', async () => {
    chownSync(pipe, MALLORY, MALLORY);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    await run([...FIND, '-o', pipe], { exit: 9 });
    closeSync(reader);
  });
});

describe('a name that Windows reserves for a device', () => {
  it.each(['NUL', 'con.csv', 'COM1', 'lpt9.tar.gz', 'C:\\x\\nul', 'aux .txt', 'COM¹.csv', 'CONOUT$', 'prn:'])(
    '%s is refused on Windows only',
    (name) => {
      const resolveOn = (platform: NodeJS.Platform) => () =>
        resolveOutput(join('/none', name), { ...contextOf({}), platform }, { force: true });
      expect(resolveOn('win32')).toThrow(expect.objectContaining({ code: 'usage' }));
      expect(resolveOn('linux')).not.toThrow();
    },
  );

  it.each(['null.csv', 'console', 'com10', 'com', 'out.con', 'aux-1.csv'])(
    '%s is not such a name',
    (name) => {
      expect(windowsProblem(name)).toBeUndefined();
    },
  );

  it.each([
    ['C:\\x\\out.csv:stream', true],
    ['out.csv::$DATA', true],
    ['C:\\x:y\\out.csv', true],
    ['C:\\x\\out.csv', false],
    ['\\\\?\\C:\\x\\out.csv', false],
    ['\\\\server\\share\\out.csv', false],
  ])('%s: a hidden stream %s', (name, isStream) => {
    expect(windowsProblem(name)?.includes('hidden stream') ?? false).toBe(isStream);
  });
});

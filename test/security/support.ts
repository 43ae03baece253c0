import { chmodSync, chownSync, cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect } from 'vitest';
import { type TestFolder, useFolder } from '../helpers/files.ts';
import { IS_FULL } from '../helpers/full.ts';
import { baseEnv, PROGRAM, type ProcessResult, type Running, STANDALONE, start } from '../helpers/process.ts';
import { type RunOptions, runCli } from '../helpers/program.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export const KEY = 'sk_service_SecretKeyThatMustNotLeak_x9z2';
const SECRET = 'SecretKeyThatMustNotLeak';

/** Two other users of the machine. Tests with them need root, which can start processes as any user. */
export const MALLORY = 65_534;
export const VICTIM = 65_533;
export const IS_ROOT = process.getuid?.() === 0;

/** All characters that a terminal interprets: C0 except tab and line feed, DEL, C1, bidi controls. */
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const STACK = /^\s+at .*(?::\d+:\d+|\(.*\))/m;

/** Maximum time of a command, in milliseconds, on a busy machine. */
const MAX_MS = 40_000;

export interface AttackOptions extends Pick<RunOptions, 'env' | 'cwd'> {
  readonly stdin?: string;
  /** Runs as this user. Default: the user of the tests. */
  readonly uid?: number;
  /** Always starts a process. */
  readonly asProcess?: true;
  /** Exit code 0 to 9, or 130. Default: any but 1, which is a bug. */
  readonly exit?: number;
}

/** Creates an empty folder that every user may enter, with an owner; it is deleted when the test is over. */
export const sharedFolder = (owner?: number, mode?: number): string => subfolder(tempFolder(), owner, mode);

/** Creates a subfolder with an owner. */
export function subfolder(path: string, owner?: number, mode = 0o755): string {
  mkdirSync(path, { recursive: true });
  chmodSync(path, mode);
  if (owner !== undefined) chownSync(path, owner, owner);
  return path;
}

/** A copy of the program that every user can run, and functions that run it in a home. */
export interface Installed {
  /** Empty when a test starts. */
  readonly home: TestFolder;
  /** Starts the program, to be sent signals. */
  begin(words: readonly string[], options?: Pick<AttackOptions, 'env' | 'stdin'>): Running;
  run(words: readonly string[], options?: AttackOptions): Promise<ProcessResult & { readonly ms: number }>;
}

const ENV = { RESTAURANT_API_KEY: KEY, RESTAURANT_MAX_AGE: '0', RESTAURANT_RETRIES: '0' };

/**
 * Installs the program around the tests of a file, and sets the URL of its service. `run` also checks what every attack
 * must satisfy. It starts a process for an attack by another user, and for all if `startsProcesses`; otherwise the program
 * runs in this process, which is ten times faster.
 */
export function useProgram(urlOf?: () => string, startsProcesses = IS_FULL): Installed {
  const home = useFolder();
  const folder = tempFolder();
  beforeAll(() => {
    chmodSync(folder, 0o755);
    for (const part of STANDALONE ? [] : ['bin', 'dist', 'package.json']) {
      cpSync(join(ROOT, part), join(folder, part), { recursive: true });
    }
  });
  const program = STANDALONE ? [...PROGRAM] : [process.execPath, join(folder, 'bin', 'restaurant.js')];
  const optionsOf = <T extends Pick<AttackOptions, 'env' | 'cwd'>>(options: T) => ({
    cwd: home.path,
    ...options,
    env: { ...ENV, HOME: home.path, RESTAURANT_BASE_URL: urlOf?.(), ...options.env },
  });
  return {
    home,
    begin: (words, options = {}) => {
      const [command = '', ...first] = program;
      return start(command, [...first, ...words], optionsOf(options));
    },
    async run(words, { uid, exit, asProcess, ...more } = {}) {
      const options = optionsOf(more);
      const as = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups'];
      const [command = '', ...first] = [...as, ...program];
      const began = performance.now();
      const ended =
        startsProcesses || STANDALONE || uid !== undefined || asProcess === true
          ? await start(command, [...first, ...words], options).ended
          : { ...(await runCli(words, { ...options, env: { ...baseEnv(), ...options.env } })), signal: null };
      const ms = performance.now() - began;
      expectHarmless(ended);
      expect({ ...ended, fast: ms < MAX_MS }).toMatchObject({
        fast: true,
        ...(exit === undefined ? {} : { exit }),
      });
      return { ...ended, ms };
    },
  };
}

/** Checks that a command exited normally and printed neither control characters, a privileged command, nor the key. */
export function expectHarmless({ exit, signal, stdout, stderr }: ProcessResult): void {
  const printed = stdout + stderr;
  expect({ exit, signal, stderr }).toMatchObject({ signal: null, exit: expect.any(Number) });
  expect({ exit, stderr }).not.toMatchObject({ exit: 1 });
  expect(printed).not.toMatch(STACK);
  expect(printed).not.toMatch(CONTROLS);
  expect(printed).not.toMatch(/sudo|chown|rm -/);
  expect(printed).not.toContain(SECRET);
  expect(printed).not.toContain(Buffer.from(SECRET).toString('base64').slice(4, -4));
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Code, EXIT_CODES, KIND_OF } from '../../src/errors.ts';
import type { ProcessResult } from '../helpers/process.ts';
import { type Fault, KEY, type OutputFormat } from './fault.ts';

/** Characters that a terminal acts on: C0 except the line feed, DEL, C1, bidi controls. */
export const CONTROLS = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const STACK = /^\s+at .*(?::\d+:\d+|\(.*\))/m;

interface Expected extends Pick<Fault, 'exit' | 'code' | 'message' | 'stdout'> {
  readonly form: OutputFormat;
}

/** Checks the conditions that every run must satisfy, with any fault, and what this fault expects. */
export function expectSurvived(
  { exit, stdout, stderr }: Omit<ProcessResult, 'signal'>,
  { form, ...wanted }: Expected,
): void {
  const all = stdout + stderr;
  expect({ exit, stderr }).toMatchObject({ exit: wanted.exit });
  expect(all).not.toMatch(STACK);
  expect(all).not.toMatch(CONTROLS);
  expect(all).not.toContain(KEY);
  expect(all).not.toContain(Buffer.from(KEY).toString('base64').slice(4, -4));
  const hasData = exit === 0 || exit === EXIT_CODES.partial;
  if (!hasData) expect(stdout).toBe('');
  else if (form === 'json') JSON.parse(stdout);
  if (wanted.stdout !== undefined) expect(stdout).toMatch(wanted.stdout);
  if (exit === 0) {
    // A long pause and an empty result are reported even if stderr is not a terminal.
    expect(stderr).toMatch(/^(warning: [^\n]*429[^\n]* retrying in \d+ s\n)?(no matches for Nopa in SF\n)?$/);
    return;
  }
  const { code, problem } = form === 'json' ? parseProblem(stderr) : parseLines(stderr);
  if (code !== undefined) {
    expect(code).toBe(wanted.code);
    expect(EXIT_CODES[KIND_OF[code]]).toBe(exit);
  }
  if (wanted.message !== undefined) expect(problem).toMatch(wanted.message);
}

/** Parses the one line of JSON. */
function parseProblem(stderr: string): { code: Code; problem: string } {
  expect(stderr).toMatch(/^[^\n]+\n$/);
  const { error, ...rest } = JSON.parse(stderr);
  expect(rest).toEqual({});
  expect(error).toMatchObject({
    code: expect.any(String),
    message: expect.stringMatching(/./),
    hint: expect.stringMatching(/./),
    retryable: expect.any(Boolean),
  });
  return { code: error.code, problem: `${error.message}\n${error.hint}` };
}

/** Parses the two lines for a person. */
function parseLines(stderr: string): { code: undefined; problem: string } {
  const lines = /^error: ([^\n]+)\nhint: ([^\n]+)\n$/.exec(stderr);
  expect(lines, stderr).not.toBeNull();
  return { code: undefined, problem: `${lines?.[1]}\n${lines?.[2]}` };
}

/** Checks that every JSON file of the program is complete and no temporary file is left. */
export function expectWholeFiles(folder: string): void {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((name) => name.endsWith('.json'))) {
    JSON.parse(readFileSync(join(folder, file), 'utf8'));
  }
  expect(files.filter((name) => /\.tmp\b/.test(name))).toEqual([]);
}

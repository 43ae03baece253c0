import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { MCP_CLIENTS } from '../../src/mcp/client-config/clients.ts';
import type { RunOptions, Transcript } from '../helpers/program.ts';
import { runCli } from '../helpers/program.ts';
import { ID, plannedRun, useCommandRuns } from '../helpers/runs.ts';
import { ajv, closed, expectValid, type Schema } from '../helpers/schema.ts';
import { REVOKED, useService } from '../helpers/service.ts';
import { everyCommand, isGroup, readTree } from '../helpers/tree.ts';
import { useInstalled } from './mcp/installed.ts';

const tree = await readTree();
const leaves = everyCommand(tree.commands).filter((command) => !isGroup(command));
const takesJson = leaves.filter(({ global_options: flags }) => flags.includes('--json'));
const { service, fresh, again } = useCommandRuns();
const mcp = useService({ mode: 'mcp' });
const installed = useInstalled();
const jsonNames = takesJson.map(({ name }) => name);
const stopped = AbortSignal.abort(new AppError('interrupted', 'interrupted by SIGINT'));

type Part = 'input' | 'output' | 'progress';
const whole = JSON.parse((await runCli(['schema'])).stdout);
const described = new Map<string, Record<Part, Schema> & { readonly $defs?: Schema }>();
for (const { name } of leaves) {
  described.set(name, JSON.parse((await runCli(['schema', ...name.split(' ')])).stdout));
}
const schemaOf = (name: string, part: Part): Schema => {
  const { [part]: schema, $defs } = described.get(name) ?? {};
  if (schema === undefined) throw new Error(`${name} has no schema of its ${part}`);
  // An error within the output has the schema of every error.
  const { error } = whole.error.properties;
  return $defs === undefined ? schema : { ...schema, $defs: { ...$defs, error } };
};

/** Commands that print the output of the service, which may have unknown fields. */
const OPEN = ['find', 'lookup', 'save', 'saved', 'tools', 'call', 'raw'];

/** Validates the output of a command against its schema. */
function expectOutput(name: string, stdout: string): void {
  const schema = schemaOf(name, 'output');
  expectValid(name, OPEN.includes(name) ? schema : closed(schema), stdout);
}

const timeless = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');

function expectError(name: string, { exit, stdout, stderr }: Transcript, code: string): void {
  expect([exit > 0, stdout]).toEqual([true, '']);
  expect(stderr).toMatch(/^\{.*\}\n$/);
  expectValid(name, closed(whole.error), stderr);
  expect(JSON.parse(stderr).error.code).toBe(code);
}

describe('the command schemas', () => {
  it('are JSON Schemas for every command, with an output schema if it supports --json', () => {
    for (const [name, parts] of described) {
      for (const part of ['input', 'output', 'progress'] as const) {
        const valid = parts[part] === undefined || ajv.validateSchema(schemaOf(name, part));
        expect([name, part, valid]).toEqual([name, part, true]);
      }
      expect(parts.input).toMatchObject({ type: 'object', additionalProperties: false });
      const json = takesJson.some((each) => each.name === name);
      expect([name, 'output' in parts]).toEqual([name, json]);
    }
  });

  it('of the input list every argument and option, with choices and a default of the right type', () => {
    for (const command of leaves) {
      const input = described.get(command.name)?.input as { properties: Record<string, Schema> };
      const flags = [...command.options.map(({ name }) => name), ...command.global_options];
      const names = [...command.arguments.map(({ name }) => name), ...flags.map((flag) => flag.slice(2))];
      expect(Object.keys(input.properties).sort()).toEqual(names.sort());
      for (const [name, property] of Object.entries(input.properties)) {
        const shared = tree.options.find((each) => each.name === `--${name}`);
        const { description = shared?.description, flags: own = shared?.flags } = property;
        expect([name, description]).toEqual([name, expect.stringMatching(/./)]);
        if (flags.includes(`--${name}`))
          expect([name, own]).toEqual([name, expect.stringContaining(`--${name}`)]);
        if (property.default !== undefined) expectValid(name, property, JSON.stringify(property.default));
      }
    }
  });
});

it('schema <command> describes each option once', async () => {
  const { stdout } = await runCli(['schema', 'find']);
  expect(stdout.split('--limit <').length).toBe(2);
  expect(Object.keys(JSON.parse(stdout))).not.toContain('options');
});

const VARIANTS = `
status --check | status --check --demo | lookup ID --fields basic | lookup ID --fields standard
lookup ID --fields premium | lookup 1 2 --fields premium | tools find_restaurant | enrich places.csv --dry-run
config get city | logout | skill install codex --dry-run | schema config | schema enrich
`
  .replaceAll('ID', ID)
  .trim()
  .split(/ \| |\n/);

describe('output with --json', () => {
  it.each(jsonNames.filter((name) => name !== 'sandbox'))(
    'of %s is one document that matches the schema, and nothing is on stderr',
    async (name) => {
      const print = (more: readonly string[] = [], options: RunOptions = {}) =>
        fresh(plannedRun(name), ['--json', ...more], options);
      const json = await print();
      expect(json).toMatchObject({ exit: 0, stderr: '' });
      expect(json.stdout).toMatch(/^[[{].*[\]}]\n$/);
      expectOutput(name, json.stdout);
      const tty = { stdout: true, stderr: true };
      const loud = await print([], { tty, env: { FORCE_COLOR: '3' } });
      expect(loud).toMatchObject({ exit: 0, stderr: '' });
      expect(JSON.parse(timeless(loud.stdout))).toEqual(JSON.parse(timeless(json.stdout)));
      expect(loud.stdout).not.toContain('\u001b');
      expect(timeless((await print()).stdout)).toBe(timeless(json.stdout));
      expect(timeless((await print(['--verbose'])).stdout)).toBe(timeless(json.stdout));
    },
  );

  it('of sandbox is one line, and nothing follows at its end', async () => {
    const words = ['sandbox', '--port', '0', '--json'];
    const { exit, stdout, stderr } = await runCli(words, { signal: stopped });
    expect([exit, stderr]).toEqual([130, '']);
    expectOutput('sandbox', stdout);
    expect(JSON.parse(stdout).base_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  });

  it('is supported by every command that prints data', () => {
    const without = leaves.map(({ name }) => name).filter((name) => !jsonNames.includes(name));
    expect(without).toEqual(['pick', 'mcp', 'completion', 'skill print', 'help']);
  });

  it.each<[line: string, env?: RunOptions['env']]>([
    ...VARIANTS.map((line): [string] => [line]),
    ['status', { RESTAURANT_API_KEY: 'x y', RESTAURANT_PER_DAY: '0', RESTAURANT_BASE_URL: '' }],
    ...MCP_CLIENTS.flatMap(({ name, http }) => {
      const lines: [string][] = [[`mcp config ${name}`], [`mcp config ${name} --write`]];
      if (http !== undefined) lines.push([`mcp config ${name} --via http`]);
      return lines;
    }),
  ])('of a variant matches the schema: %s', async (line, env = {}) => {
    await fresh({ words: ['find', 'Nopa', '--city', 'SF'] });
    const { exit, stdout, stderr } = await again({ words: [...line.split(' '), '--json'] }, { env });
    expect([exit, stderr]).toEqual([0, '']);
    const names = jsonNames.filter((name) => line.startsWith(name));
    expectOutput(names.at(-1) ?? '', stdout);
  });

  it('of mcp config --check matches the schema', async () => {
    const words = ['mcp', 'config', 'cursor', '--check', '--json'];
    const env = { PATH: installed.path };
    expectOutput('mcp config', (await mcp.run(words, { env })).stdout);
  });

  it('lists requests with --dry-run', async () => {
    const previews = leaves.filter(({ global_options: flags }) => flags.includes('--curl'));
    for (const words of [...previews.map(({ name }) => plannedRun(name).words), ['lookup', ID, 'another']]) {
      const sent = words.filter((word) => word !== '--demo');
      const { exit, stdout } = await again({ words: [...sent, '--dry-run'] });
      expect([words, exit]).toEqual([words, 0]);
      expectValid(words.join(' '), closed(whole.dry_run), stdout);
    }
  });
});

describe('an error', () => {
  it('of every command matches the schema', async () => {
    for (const { name } of takesJson) {
      expectError(name, await again({ words: [...name.split(' '), '--no-such-option', '--json'] }), 'usage');
    }
  });

  it('is in the list of an output that failed in part', async () => {
    // When one of several fails, the whole list is printed with the error.
    const { exit, stdout, stderr } = await again({ words: ['lookup', ID, 'no-such-id', '--json'] });
    expect(exit).toBe(8);
    expectValid('lookup', schemaOf('lookup', 'output'), stdout);
    expectValid('lookup', closed(whole.error), stderr);
  });
});

describe('a line of enrich --progress json', () => {
  const lines = ({ stderr }: Transcript): string[] => stderr.trimEnd().split('\n');

  it('is an event, and the last line is the summary or an error', async () => {
    const words = ['enrich', 'places.csv', '-o', 'out.csv', '--progress', 'json'];
    const good = await fresh({ words });
    const progress = closed(schemaOf('enrich', 'progress'));
    for (const line of lines(good)) expectValid(line, progress, line);
    expect(lines(good).at(-1)).toContain('"event":"summary"');
    const bad = await fresh({ words }, [], { env: { RESTAURANT_API_KEY: REVOKED } });
    const [last = '', ...events] = lines(bad).reverse();
    for (const line of events) expectValid(line, progress, line);
    expectValid(last, closed(whole.error), last);
    expect(service.sandbox.requests.length).toBeGreaterThan(0);
  });
});

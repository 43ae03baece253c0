import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../src/errors.ts';
import { MCP_CLIENTS } from '../../src/mcp/client-config/clients.ts';
import type { RunOptions, Transcript } from '../helpers/program.ts';
import { runCli } from '../helpers/program.ts';
import { ID, RUNS, useCommandRuns } from '../helpers/runs.ts';
import { FREE, REVOKED, useService } from '../helpers/service.ts';
import { everyCommand, isGroup, readTree } from '../helpers/tree.ts';

type Schema = Readonly<Record<string, unknown>>;

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const tree = await readTree();
const leaves = everyCommand(tree.commands).filter((command) => !isGroup(command));
const takesJson = leaves.filter(({ global_options: flags }) => flags.includes('--json'));
const { service, fresh, again } = useCommandRuns();
const mcp = useService({ mode: 'mcp' });
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

/** Returns the schema without additional properties, so that an undescribed key fails. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, closed(part)]));
  return 'properties' in schema && typeof schema.properties === 'object'
    ? { additionalProperties: false, ...parts }
    : parts;
}

function expectValid(what: string, schema: unknown, text: string): void {
  const value: unknown = JSON.parse(text);
  const valid = ajv.validate(schema as Schema, value);
  expect([what, valid, valid ? '' : ajv.errorsText()]).toEqual([what, true, '']);
}

/** Runs a command with --json and validates its output against its schema. */
async function expectOutput(name: string, words: readonly string[], options: RunOptions = {}): Promise<void> {
  const { exit, stdout, stderr } = await again({ words: [...words, '--json'] }, options);
  expect([words, exit, stderr]).toEqual([words, 0, '']);
  const schema = schemaOf(name, 'output');
  expectValid(words.join(' '), OPEN.includes(name) ? schema : closed(schema), stdout);
}

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

describe('output matches the schema when printed', () => {
  it('by every command', async () => {
    for (const { name } of takesJson.filter((each) => each.name !== 'sandbox')) {
      const plan = RUNS[name];
      const { exit, stdout } = await fresh({ ...plan, words: plan?.words ?? [] }, ['--json']);
      expect([name, exit]).toEqual([name, 0]);
      const schema = schemaOf(name, 'output');
      expectValid(name, OPEN.includes(name) ? schema : closed(schema), stdout);
    }
  });

  it('in the other variants of a command', async () => {
    await fresh({ words: ['find', 'Nopa', '--city', 'SF'] });
    await expectOutput('status', ['status', '--check']);
    await expectOutput('status', ['status', '--check', '--demo']);
    await expectOutput('status', ['status'], {
      env: { RESTAURANT_API_KEY: 'x y', RESTAURANT_PER_DAY: '0', RESTAURANT_BASE_URL: undefined },
    });
    for (const level of ['basic', 'standard', 'premium']) {
      await expectOutput('lookup', ['lookup', ID, '--fields', level]);
    }
    await expectOutput('lookup', ['lookup', '1', '2', '--fields', 'premium']);
    await expectOutput('tools', ['tools', 'find_restaurant']);
    await expectOutput('enrich', ['enrich', 'places.csv', '--dry-run']);
    await expectOutput('config get', ['config', 'get', 'city']);
    await expectOutput('logout', ['logout']);
    await expectOutput('skill install', ['skill', 'install', 'codex', '--dry-run']);
    for (const words of [[], ['config'], ['enrich']]) await expectOutput('schema', ['schema', ...words]);
    const { stdout } = await runCli(['sandbox', '--port', '0', '--json'], { signal: stopped });
    expectValid('sandbox', closed(schemaOf('sandbox', 'output')), stdout);
  });

  it('by mcp config for every client, when it prints, writes and checks', async () => {
    await fresh({ words: ['config', 'path'] });
    for (const { name, reference } of MCP_CLIENTS) {
      const words = ['mcp', 'config', name];
      for (const via of reference === undefined ? ['stdio'] : ['http', 'stdio']) {
        await expectOutput('mcp config', [...words, '--via', via]);
        await expectOutput('mcp config', [...words, '--via', via, '--write']);
      }
    }
    const checked = await mcp.run(['mcp', 'config', 'cursor', '--via', 'http', '--check', '--json']);
    expectValid('mcp config --check', closed(schemaOf('mcp config', 'output')), checked.stdout);
  });

  it('by --dry-run, which prints requests', async () => {
    for (const { name } of leaves.filter(({ global_options: flags }) => flags.includes('--curl'))) {
      const plan = RUNS[name];
      const words = (plan?.words ?? []).filter((word) => word !== '--demo');
      const { exit, stdout } = await again({ words: [...words, '--dry-run'] });
      expect([name, exit]).toEqual([name, 0]);
      expectValid(name, closed(whole.dry_run), stdout);
    }
    const several = await again({ words: ['lookup', ID, 'another', '--dry-run'] });
    expectValid('lookup', closed(whole.dry_run), several.stdout);
  });
});

describe('an error', () => {
  it('of every command matches the schema', async () => {
    for (const { name } of takesJson) {
      expectError(name, await again({ words: [...name.split(' '), '--no-such-option', '--json'] }), 'usage');
    }
  });

  it('includes its details', async () => {
    const find = ['find', 'Nopa', '--city', 'SF', '--json'];
    const failing = async (words: readonly string[], code: string, env: RunOptions['env'] = {}) =>
      expectError(words[0] ?? '', await again({ words }, { env }), code);
    await failing(find, 'unauthorized', { RESTAURANT_API_KEY: REVOKED });
    await failing(find, 'network', { RESTAURANT_BASE_URL: 'http://127.0.0.1:1', RESTAURANT_RETRIES: '0' });
    await failing(['lookup', 'no-such-id', '--json'], 'not_found');
    await failing(['lookup', ID, '--fields', 'premium', '--json'], 'plan_required', {
      RESTAURANT_API_KEY: FREE,
    });
    await failing(['call', 'no_such_tool', '--json'], 'rpc_error');
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

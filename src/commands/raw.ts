import { needsDemo } from '../app/address.ts';
import type { App } from '../app/app.ts';
import { readJsonArgument } from '../app/input.ts';
import { checkOutput, jqFilter } from '../app/output.ts';
import { openOutput, writesToTerminal } from '../app/output-file.ts';
import { previewOrOpen } from '../app/request.ts';
import type { CliCommand } from '../cli/command.ts';
import type { RawResponse } from '../client/restaurant.ts';
import { DOCUMENTED_TOOLS } from '../client/tools.ts';
import { type AppError, EXIT_CODES, usage } from '../errors.ts';
import { type Command, fragment, restaurant } from '../hint.ts';
import { exactJson, formatJson, isObject, type JsonObject } from '../util/json.ts';

interface RawOptions {
  field: string[];
  jsonField: string[];
  include?: true;
  unwrap?: true;
}

export function registerRaw(command: CliCommand, app: App): void {
  command
    .about('Send a JSON-RPC request', 'Prints the full response.')
    .argument('<method>', 'JSON-RPC method, such as tools/call')
    .argument('[params]', 'JSON, @file, or - for stdin')
    .completeWith('params', 'at-file')
    .listOption('-f, --field <key=text>', 'String parameter (a.b=c sets a nested key)')
    .listOption('-F, --json-field <key=json>', 'JSON parameter (a.b=1 sets a nested key)')
    .option('-i, --include', 'Print the status line and response headers first')
    .option('--unwrap', 'Print the parsed result.content[0].text instead of the envelope')
    .usesOptions('service', 'request', 'cache', 'offline', 'preview', 'json', 'jq', 'file')
    .overrideOption('--max-age', { default: '0' })
    .overrideOption('--format', { choices: ['json'], defaultText: 'json' })
    .outputSchema({
      description: 'the JSON-RPC response envelope as received; with --unwrap the output of the tool',
    })
    .examples(
      `restaurant raw tools/call '{"name":"find_restaurant","arguments":{"name":"Nopa","city":"SF"}}' --demo`,
      'restaurant raw tools/call -f name=find_restaurant -f arguments.name=Nopa -f arguments.city=SF --unwrap --demo',
    )
    .notes('A JSON-RPC error is printed like any other response, with exit code 7.')
    .action((method: string, params: string | undefined, options: RawOptions) =>
      runRaw(app, method, params, options),
    );
}

async function runRaw(
  app: App,
  method: string,
  typed: string | undefined,
  options: RawOptions,
): Promise<void> {
  await checkOutput(app, 'response');
  if (method.trim() === '') throw usage('the method is empty', { command: restaurant('raw', 'tools/list') });
  const params = await readParams(app, typed, options);
  const command = DOCUMENTED_TOOLS.some(({ name }) => name === method) && toolCommand(method, params);
  const toolMessage = `${method} is a tool, not a method`;
  if (needsDemo(app) && command) throw usage(toolMessage, { text: 'to call it', command });
  const service = await previewOrOpen(app, () => [{ method, params }]);
  if (service === undefined) return;
  const call = service.callAny({
    name: `raw ${method}`,
    args: { params },
    send: (client) => client.request(method, params),
    shouldStore: ({ failed }) => !failed,
  });
  const { value: response } = await app.notes.withSpinner(method, call);
  // The head is printed even if the filter or the unwrapping of the body fails.
  const target = openOutput(app);
  if (options.include === true) await target.write(formatHead(response));
  await target.write(await formatBody(app, response, options.unwrap === true && !response.failed));
  await target.finish();
  if (!response.failed) return;
  app.exitCode = EXIT_CODES.service;
  if (command) await app.notes.report({ code: 'tool_name', message: toolMessage, hint: { command } });
}

/** The call of a tool whose name was typed as a method. */
function toolCommand(tool: string, params: JsonObject | unknown[] | undefined): Command {
  const args = Object.entries(isObject(params) ? params : {}).map(([key, value]) =>
    typeof value === 'string' ? `${key}=${value}` : `${key}:=${formatJson(exactJson(value), false)}`,
  );
  return restaurant('call', tool, ...args);
}

function formatHead({ status, statusText, headers }: RawResponse): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return `${['HTTP/1.1', status, statusText].join(' ').trim()}\n${lines.join('\n')}\n\n`;
}

async function formatBody(app: App, { envelope, text }: RawResponse, unwrap: boolean): Promise<string> {
  const pretty = writesToTerminal(app);
  const { unwrapText } = await import('../client/results.ts');
  const json = unwrap ? unwrapText(envelope) : text;
  const { jq } = app.globals;
  if (jq === undefined) return `${formatJson(json, pretty)}\n`;
  const filter = await jqFilter(app, jq);
  return filter.apply(json, pretty);
}

async function readParams(
  app: App,
  params: string | undefined,
  { field, jsonField }: RawOptions,
): Promise<JsonObject | unknown[] | undefined> {
  if (field.length + jsonField.length > 0) {
    if (params === undefined) return fromFields(field, jsonField);
    throw usage('cannot combine the params argument with -f or -F', {
      text: 'use either the JSON argument, or -f and -F',
    });
  }
  if (params === undefined) return undefined;
  const value = await readJsonArgument(app, params, 'params');
  if (Array.isArray(value) || isObject(value)) return value;
  throw usage('params: expected a JSON object or array', {
    command: restaurant('raw', 'tools/call', '{"name": "find_restaurant"}'),
  });
}

async function fromFields(field: readonly string[], jsonField: readonly string[]): Promise<JsonObject> {
  const { parseUserJson, textHint } = await import('../util/user-json.ts');
  const params: JsonObject = {};
  for (const text of field) {
    const [key, value] = splitPair(text, '-f');
    setDotted(params, key, value);
  }
  for (const text of jsonField) {
    const [key, value] = splitPair(text, '-F');
    const hint = textHint(
      value,
      (plain) => fragment('-f', `${key}=${plain}`),
      (json) => fragment('-F', `${key}=${json}`),
    );
    setDotted(params, key, parseUserJson(value, `-F ${key}`, 'usage', hint));
  }
  return params;
}

/** Splits `key=value` at the first `=`. @throws {AppError} `usage` */
function splitPair(text: string, flag: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw usage(`${flag} '${text}': expected key=value`, {
    text: 'for example',
    command: fragment(flag, 'name=Nopa'),
  });
}

/**
 * Sets `a.b.c` in nested objects.
 * @throws {AppError} `usage` for a path that is set twice or leads through a value that is not an object
 */
function setDotted(target: JsonObject, path: string, value: unknown): void {
  const keys = path.split('.');
  if (keys.some((key) => key === '' || key === '__proto__')) {
    throw usage(`invalid key '${path}'`, {
      text: 'dots set nested keys',
      command: fragment('-F', 'arguments.limit=3'),
    });
  }
  const last = keys.pop() ?? '';
  const repeated = (depth: number): AppError =>
    usage(`'${path.split('.').slice(0, depth).join('.')}' is set twice`, {
      text: 'set each key once',
      command: fragment('-f', `${path}=…`),
    });
  const parent = keys.reduce((at, key, index) => {
    const next = Object.hasOwn(at, key) ? at[key] : {};
    if (!isObject(next)) throw repeated(index + 1);
    at[key] = next;
    return next;
  }, target);
  if (Object.hasOwn(parent, last)) throw repeated(keys.length + 1);
  parent[last] = value;
}

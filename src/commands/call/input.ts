import type { App } from '../../app/app.ts';
import type { UpdateLabel } from '../../app/notes.ts';
import { missingBrowserReason, openUrl } from '../../app/page.ts';
import type { InputSource } from '../../client/types.ts';
import { Semaphore } from '../../util/async.ts';
import { isObject, type JsonObject } from '../../util/json.ts';
import { cleanLine } from '../../util/text.ts';
import { parseUrl } from '../../util/url.ts';

/** The spinner of a call, which is hidden while the tool asks for input. */
export class CallLabel {
  readonly #name: string;
  readonly #update: UpdateLabel;
  #isHidden = false;

  constructor(name: string, update: UpdateLabel) {
    this.#name = name;
    this.#update = update;
  }

  readonly showProgress = (params: JsonObject): void => {
    if (!this.#isHidden) void this.#update(progressLabel(this.#name, params));
  };

  async hideWhile<T>(work: () => Promise<T>): Promise<T> {
    this.#isHidden = true;
    await this.#update(undefined);
    try {
      return await work();
    } finally {
      this.#isHidden = false;
      await this.#update(this.#name);
    }
  }
}

export function progressLabel(label: string, params: Readonly<Record<string, unknown>>): string {
  const { progress, total, message } = params;
  // The line is cut to the width of the terminal later.
  if (typeof message === 'string' && message.trim() !== '') return `${label}: ${message.slice(0, 500)}`;
  const percent = Math.floor((100 * Number(progress)) / Number(total));
  return percent >= 0 && percent <= 100 ? `${label} ${percent} %` : label;
}

type Schema = Readonly<JsonObject>;

/** MCP: forms, and web pages to open. */
export const CAPABILITIES = { elicitation: { form: {}, url: {} } };
const DECLINE = { action: 'decline' };
const MAX_FIELDS = 50;
/** Longest text of the service in a prompt, in characters. */
const MAX_TEXT = 500;

/**
 * Asks the person at the terminal for input that a tool requests.
 * @param host of the service, which gets the reply
 * @param label of a spinner, which is hidden meanwhile
 */
export function terminalInput(app: App, host: string, label?: CallLabel): InputSource {
  // A server may send several requests at once: a reply to one must not reply to another.
  const terminal = new Semaphore(1);
  return {
    capabilities: CAPABILITIES,
    answer({ params }, signal) {
      const reply = () => ask(app, host, params);
      return terminal.run(() => (label === undefined ? reply() : label.hideWhile(reply)), signal);
    },
  };
}

async function ask(
  app: App,
  host: string,
  { mode, message, url, requestedSchema }: JsonObject,
): Promise<JsonObject> {
  await print(app, `${host} asks: ${cleaned(app, message)}`);
  return mode === 'url'
    ? askToOpen(app, url)
    : askFields(app, isObject(requestedSchema) ? requestedSchema : {});
}

async function askToOpen(app: App, address: unknown): Promise<JsonObject> {
  const url = typeof address === 'string' ? parseUrl(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    await print(app, 'declined: it is not a web address');
    return DECLINE;
  }
  await print(app, app.secrets.redact(url.href));
  if (!(await agrees(app, 'Open this address in your browser?', 'y/N'))) return DECLINE;
  const problem = missingBrowserReason(app.context) ?? (await openUrl(app, url.href));
  if (problem !== undefined) await print(app, `open it yourself: ${problem}`);
  return { action: 'accept' };
}

async function askFields(app: App, { properties, required }: Schema): Promise<JsonObject> {
  const fields = Object.entries(isObject(properties) ? properties : {}).slice(0, MAX_FIELDS);
  if (!(await agrees(app, 'Reply?', 'Y/n'))) return DECLINE;
  const content: JsonObject = {};
  for (const [key, schema] of fields) {
    const isRequired = Array.isArray(required) && required.includes(key);
    const value = await askField(app, key, isObject(schema) ? schema : {}, isRequired);
    if (value !== undefined) content[key] = value;
  }
  return { action: 'accept', content };
}

/** Asks until the reply is valid. @returns undefined for an optional field without a reply */
async function askField(app: App, key: string, schema: Schema, isRequired: boolean): Promise<unknown> {
  const { title, description, default: fallback } = schema;
  const choices = choicesOf(schema);
  const notes = [
    description,
    choices.length > 0 && choices.join(', '),
    fallback !== undefined && `default: ${JSON.stringify(fallback)}`,
    !isRequired && fallback === undefined && 'optional',
  ].filter((note) => typeof note === 'string');
  const label = `${typeof title === 'string' ? title : key}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`;
  for (;;) {
    const text = (await app.context.prompt.text(cleaned(app, label))).trim();
    if (text === '' && !(isRequired && fallback === undefined)) return fallback;
    const value = readValue(text, schema, choices);
    if (value !== undefined) return value;
    await print(app, `expected ${expectation(schema, choices)}`);
  }
}

async function agrees(app: App, question: string, choices: 'Y/n' | 'y/N'): Promise<boolean> {
  const reply = (await app.context.prompt.text(question, choices)).trim();
  return reply === '' ? choices === 'Y/n' : /^y(?:es)?$/i.test(reply);
}

function cleaned(app: App, text: unknown): string {
  return typeof text === 'string' ? app.secrets.redact(cleanLine(text)).slice(0, MAX_TEXT) : '';
}

async function print({ context }: App, text: string): Promise<void> {
  await context.stderr.write(`${text}\n`);
}

/** The values that a field accepts: `enum`, or the constants of `oneOf`; of a list, those of its items. */
function choicesOf({ enum: values, oneOf, items }: Schema): string[] {
  if (isObject(items)) return choicesOf({ enum: items.enum, oneOf: items.oneOf ?? items.anyOf });
  const constants = (Array.isArray(oneOf) ? oneOf : []).map((each: unknown) => isObject(each) && each.const);
  return [...(Array.isArray(values) ? values : constants)].filter((each) => typeof each === 'string');
}

const WORDS: Readonly<Record<string, boolean>> = {
  y: true,
  yes: true,
  true: true,
  n: false,
  no: false,
  false: false,
};

/** Reads a reply as the schema requires; undefined if it is not valid. */
function readValue(text: string, { type }: Schema, choices: readonly string[]): unknown {
  if (type === 'array') {
    const values = text.split(',').map((part) => part.trim());
    return values.every((value) => choices.includes(value)) ? values : undefined;
  }
  if (choices.length > 0) return choices.includes(text) ? text : undefined;
  if (type === 'boolean') return WORDS[text.toLowerCase()];
  if (type !== 'number' && type !== 'integer') return text === '' ? undefined : text;
  const number = Number(text);
  const isValid =
    text !== '' && (type === 'integer' ? Number.isSafeInteger(number) : Number.isFinite(number));
  return isValid ? number : undefined;
}

const EXPECTATIONS: Readonly<Record<string, string>> = {
  boolean: 'yes or no',
  integer: 'a whole number',
  number: 'a number',
};

const expectation = ({ type }: Schema, choices: readonly string[]): string =>
  choices.length > 0 ? choices.join(', ') : (EXPECTATIONS[String(type)] ?? 'a text');

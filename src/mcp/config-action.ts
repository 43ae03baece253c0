import { assertMayCarryKey } from '../api/endpoint.ts';
import { maskKey } from '../api/key.ts';
import type { JsonObject } from '../api/rpc.ts';
import { AppError } from '../errors.ts';
import { shellWord } from '../files/io-error.ts';
import { nearest } from '../nearest.ts';
import { cleanLine } from '../output/text.ts';
import type { App } from '../run/app.ts';
import { emitPlain } from '../run/emit.ts';
import { needEndpoint, needKey } from '../run/target.ts';
import { checkEntry, checkLine } from './check.ts';
import { readClientFile, writeClientFile } from './client-file.ts';
import { KEY_VARIABLE, MCP_CLIENTS, type McpClient, type Scope, type Via } from './clients.ts';
import { changedLines } from './diff.ts';
import { editJson } from './edit-json.ts';
import { editToml, tomlTable } from './edit-toml.ts';
import { buildEntry, COMMAND, chooseVia, ENTRY_NAME, type Entry, snippet, type Target } from './entry.ts';
import { fileOf } from './places.ts';

/** Options of `mcp config` as commander gives them. */
export interface ConfigOptions {
  via?: Via;
  scope?: Scope;
  write?: true;
  check?: true;
  literalKey?: true;
}

/** Everything about an entry that is to be printed or written. */
interface Plan {
  readonly client: McpClient;
  readonly scope: Scope;
  readonly file: string;
  readonly target: Target;
  readonly entry: Entry;
  /** The same with the key masked, for eyes. */
  readonly shown: Entry;
}

interface Written {
  readonly changed: boolean;
  readonly backup?: string;
  /** The lines that changed. */
  readonly lines: readonly string[];
}

/** Prints the entry that makes an MCP client use the service, or writes it into the client's file. */
export async function configureClient(app: App, name: string, options: ConfigOptions): Promise<void> {
  const plan = planEntry(app, clientNamed(name), options);
  const check = options.check === true ? await checkEntry(app, plan.client, plan.target) : undefined;
  const written = options.write === true ? writeEntry(app, plan) : undefined;
  const facts = {
    client: plan.client.name,
    via: plan.target.via,
    file: plan.file,
    entry: plan.shown.value,
    ...(plan.shown.inputs.length === 0 ? {} : { inputs: plan.shown.inputs }),
    ...(written === undefined ? commandFacts(plan) : {}),
    written: written?.changed ?? false,
    ...(written?.backup === undefined ? {} : { backup: written.backup }),
    ...(check === undefined ? {} : { check }),
  };
  await emitPlain(app, facts, () => {
    const text = written === undefined ? printed(plan) : told(plan, written);
    return check === undefined ? text : `${text}\n${checkLine(check, plan.client)}`;
  });
  await notes(app, plan, written);
}

function clientNamed(name: string): McpClient {
  const client = MCP_CLIENTS.find((each) => each.name === name);
  if (client !== undefined) return client;
  const names = MCP_CLIENTS.map((each) => each.name);
  const near = nearest(name, names);
  const meant = near.length > 0 ? `did you mean ${near.join(' or ')}? ` : '';
  throw new AppError('usage', `unknown MCP client '${name}'`, {
    hint: `${meant}restaurant mcp config <client> knows ${names.join(', ')}`,
  });
}

function planEntry(app: App, client: McpClient, options: ConfigOptions): Plan {
  const literalKey = options.literalKey === true;
  const demo = app.globals.demo === true;
  const via = chooseVia(client, {
    literalKey,
    demo,
    ...(options.via === undefined ? {} : { via: options.via }),
  });
  const scope = options.scope ?? (literalKey && client.user !== undefined ? 'user' : client.scope);
  if (literalKey && scope === 'project') {
    throw new AppError('usage', 'a key is never written into a project file, which others see', {
      hint: `restaurant mcp config ${client.name} --via stdio${client.user === undefined ? '' : ', or --scope user'}`,
    });
  }
  const file = fileOf(client, scope, app.context);
  const target = via === 'stdio' ? stdioTarget(app) : httpTarget(app, literalKey);
  const mask = (text: string) => maskKey(text, app.settings.need('key-prefix'));
  const shown =
    target.via === 'http' && target.literalKey !== undefined
      ? { ...target, literalKey: mask(target.literalKey) }
      : target;
  return {
    client,
    scope,
    file,
    target,
    entry: buildEntry(client, target),
    shown: buildEntry(client, shown),
  };
}

/** The bridge with what this run was given on its command line. */
function stdioTarget(app: App): Target {
  const { profile, baseUrl, endpoint, protocol, insecureHttp, demo } = app.globals;
  const named: readonly (readonly [string, string | undefined])[] = [
    ['--profile', profile],
    ['--base-url', baseUrl],
    ['--endpoint', endpoint],
    ['--protocol', protocol],
  ];
  const args = named.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
  const switches = [insecureHttp === true ? '--insecure-http' : '', demo === true ? '--demo' : ''];
  return { via: 'stdio', args: ['mcp', ...args, ...switches.filter((flag) => flag !== '')] };
}

function httpTarget(app: App, literalKey: boolean): Target {
  const { url } = needEndpoint(app);
  assertMayCarryKey(url, app.globals.insecureHttp === true);
  const key = literalKey ? { literalKey: needKey(app, url).value } : {};
  return { via: 'http', url: url.href, ...key };
}

function writeEntry(app: App, { client, scope, file, target, entry }: Plan): Written {
  const before = readClientFile(file);
  const text = before?.text ?? '';
  const edit = client.format === 'toml' ? editToml : editJson;
  const after = edit(text, client.servers, entry, file);
  if (after === text) return { changed: false, lines: [] };
  const secret = target.via === 'http' && target.literalKey !== undefined;
  const newMode = scope === 'project' ? 0o644 : 0o600;
  const backup = writeClientFile({ path: file, before, text: after, secret, newMode });
  const reference = `Bearer ${client.reference}`;
  const lines = changedLines(text, after).map((line) => {
    // What only stands for a key is no secret.
    return cleanLine(line.includes(reference) ? line : app.redact(line));
  });
  return { changed: true, lines, ...(backup === undefined ? {} : { backup }) };
}

/** The entry as the file shall hold it, for copying. */
function printed({ client, target, shown, scope }: Plan): string {
  const text =
    client.format === 'toml'
      ? tomlTable(client.servers, shown)
      : `${JSON.stringify(snippet(client, shown), null, 2)}\n`;
  const command = commandFor({ client, target, scope });
  return command === undefined ? text : `${text}\n${command}\n`;
}

const commandFacts = (plan: Plan): JsonObject => {
  const command = commandFor(plan);
  return command === undefined ? {} : { command };
};

/** The command of the client that makes the same entry, where it has one. */
function commandFor({
  client,
  target,
  scope,
}: Pick<Plan, 'client' | 'target' | 'scope'>): string | undefined {
  if (client.name !== 'claude-code') return undefined;
  const add = `claude mcp add --scope ${scope}`;
  if (target.via === 'stdio') {
    return `${add} ${ENTRY_NAME} -- ${[COMMAND, ...target.args].map(shellWord).join(' ')}`;
  }
  if (target.literalKey !== undefined) return undefined;
  const header = shellWord(`Authorization: Bearer ${client.reference}`);
  return `${add} --transport http ${ENTRY_NAME} ${shellWord(target.url)} --header ${header}`;
}

function told({ file }: Plan, { changed, backup, lines }: Written): string {
  const path = cleanLine(file);
  if (!changed) return `${path} has this entry already\n`;
  const kept = backup === undefined ? '' : `; what it was is kept in ${cleanLine(backup)}`;
  return `wrote ${path}${kept}\n${lines.map((line) => `${line}\n`).join('')}`;
}

/** What a person has to know who reads along. */
async function notes(app: App, { client, file, target }: Plan, written: Written | undefined): Promise<void> {
  if (written === undefined) {
    await app.note(`it belongs into ${file}; restaurant mcp config ${client.name} --write puts it there`);
  }
  if (target.via === 'stdio') {
    await app.note('the bridge takes the saved login: restaurant login');
  } else if (target.literalKey === undefined && client.inputs === undefined) {
    await app.note(`${client.name} reads the key from ${KEY_VARIABLE} where it is started`);
  }
}

import { isDeepStrictEqual } from 'node:util';
import type { App } from '../../app/app.ts';
import { findInstalled } from '../../app/installed.ts';
import { writeText } from '../../app/output.ts';
import { supportsMcp } from '../../app/service.ts';
import {
  configuredEndpoint,
  keyCommandOf,
  requestHeaders,
  requireEndpoint,
  requireKey,
  shownHeader,
} from '../../app/target.ts';
import { assertMayCarryKey } from '../../client/endpoint.ts';
import { isHarmless } from '../../client/http/headers.ts';
import { maskKey } from '../../client/key.ts';
import type { JsonObject } from '../../client/rpc/envelope.ts';
import { AppError } from '../../errors.ts';
import { variable } from '../../settings/settings.ts';
import { absolute } from '../../storage/paths.ts';
import { didYouMean } from '../../util/nearest.ts';
import { shellWord } from '../../util/shell.ts';
import { cleanLine } from '../../util/text.ts';
import { checkEntry, formatCheck, INSTALL_HINT, serviceOptions } from './check.ts';
import {
  assertNoLinks,
  backupPaths,
  type ClientPath,
  clientPath,
  invalidConfig,
  pathOf,
  readClientFile,
  writeClientFile,
} from './client-file.ts';
import { KEY_VARIABLE, MCP_CLIENTS, type McpClient, type Scope, type Transport } from './clients.ts';
import { type Edit, editJson } from './edit-json.ts';
import { editToml, tomlTable } from './edit-toml.ts';
import {
  buildEntry,
  COMMAND,
  CONFIG_VARIABLE,
  chooseTransport,
  ENTRY_NAME,
  type Entry,
  SERVERS,
  snippet,
  type Target,
  VARIABLE,
} from './entry.ts';

/** Options of `mcp config`. */
export interface ConfigOptions {
  via?: Transport;
  scope?: Scope;
  write?: true;
  check?: true;
  literalKey?: true;
}

/** An entry, and where it belongs. */
interface Plan {
  readonly client: McpClient;
  readonly scope: Scope;
  readonly path: ClientPath;
  readonly target: Target;
  readonly entry: Entry;
  /** The entry with the key masked, for display. */
  readonly shown: Entry;
}

/** The result of a write to a client's file. */
interface WriteResult {
  readonly changed: boolean;
  readonly backup?: string;
  /** The changed keys of our own entry, without the key. */
  readonly lines: readonly string[];
  /** Whether the user has switched the entry off. */
  readonly disabled: boolean;
}

/**
 * Prints the entry that lets an MCP client use the service, or writes it into the client's file. With `check` it first
 * connects as the client would; when that fails, nothing is written.
 */
export async function configureClient(app: App, name: string, options: ConfigOptions): Promise<void> {
  const plan = await planEntry(app, findClient(name), options);
  const { client, target, path, shown } = plan;
  const check = options.check === true ? await checkEntry(app, client, target) : undefined;
  const written = options.write === true ? writeEntry(app, plan) : undefined;
  const command = written === undefined ? clientCommand(plan) : undefined;
  const json = {
    client: client.name,
    via: target.via,
    file: path.file,
    entry: shown.value,
    ...(shown.inputs.length === 0 ? {} : { inputs: shown.inputs }),
    ...(command === undefined ? {} : { command }),
    written: written?.changed ?? false,
    ...(written?.backup === undefined ? {} : { backup: written.backup }),
    ...(check === undefined ? {} : { check }),
  };
  const checked = check === undefined ? '' : formatCheck(check, client);
  await writeText(app, json, () =>
    written === undefined
      ? formatEntry(plan)
      : `${formatWritten(plan, written)}${checked === '' ? '' : `${checked}\n`}`,
  );
  // Without --write stdout holds nothing but the entry, so that it can be redirected into a file.
  if (written === undefined && checked !== '') await app.note(checked);
  for (const warning of warnings(app, plan)) await app.warn(warning);
  for (const note of notes(app, plan, written)) await app.note(note);
}

/** Returns the client of that name. @throws {AppError} `usage` with the nearest names */
function findClient(name: string): McpClient {
  const client = MCP_CLIENTS.find((each) => each.name === name);
  if (client !== undefined) return client;
  const names = MCP_CLIENTS.map((each) => each.name);
  throw new AppError('usage', `unknown MCP client '${name}'`, {
    hint: `${didYouMean(name, names)}restaurant mcp config <client> supports ${names.join(', ')}`,
  });
}

/**
 * Determines the entry and its file.
 * @throws {AppError} `usage` for what the client does not support; `no_service` or `no_key` when the entry needs one
 */
async function planEntry(app: App, client: McpClient, options: ConfigOptions): Promise<Plan> {
  const literalKey = options.literalKey === true;
  const demo = app.globals.demo === true;
  const isPlain = () => supportsMcp(app) === false;
  const via = chooseTransport(client, { transport: options.via, literalKey, demo, isPlain });
  const scope =
    options.scope ?? (literalKey && client.user !== undefined ? 'user' : (client.scope ?? 'user'));
  if (literalKey && scope === 'project') {
    throw new AppError('usage', 'a key is never written into a project file, which other people can read', {
      hint: `restaurant mcp config ${client.name} --via stdio${client.user === undefined ? '' : ', or --scope user'}`,
    });
  }
  const path = clientPath(client, scope, app.context);
  const target = via === 'stdio' ? stdioTarget(app, scope) : await httpTarget(app, client, literalKey);
  const entry = buildEntry(client, target);
  return { client, scope, path, target, entry, shown: buildEntry(client, masked(app, target)) };
}

/** The bridge with the options of this run, and with the variables that a client may not have. */
function stdioTarget(app: App, scope: Scope): Target {
  // Checks the URL before it becomes part of a command line.
  configuredEndpoint(app);
  const args = serviceOptions(app, ['flag', 'env']);
  const demo = app.globals.demo === true ? ['--demo'] : [];
  // A project file is shared: it must not name a folder of one user.
  return { via: 'stdio', args: ['mcp', ...args, ...demo], env: scope === 'user' ? configEnv(app) : {} };
}

/** Returns the variable that leads to the config folder, when a variable moved it. */
function configEnv(app: App): Record<string, string> {
  const { context, paths } = app;
  const moved = [CONFIG_VARIABLE, 'XDG_CONFIG_HOME'].some(
    (name) => absolute(pathOf(context), context.env[name]) !== undefined,
  );
  return moved && paths.configDir !== undefined ? { [CONFIG_VARIABLE]: paths.configDir } : {};
}

async function httpTarget(app: App, client: McpClient, literalKey: boolean): Promise<Target> {
  const { url } = requireEndpoint(app);
  assertMayCarryKey(url, app.globals.insecureHttp === true);
  const templates = requestHeaders(app, url, true);
  const hasKey = mayHaveKey(app) || Object.keys(templates).every(isHarmless);
  if (literalKey) {
    const headers = requestHeaders(app, url);
    const key = hasKey ? { literalKey: (await requireKey(app, url)).value } : {};
    return { via: 'http', url: url.href, headers, hasKey, isLiteral: true, ...key };
  }
  for (const [name, value] of Object.entries(templates)) assertReferable(client, name, value);
  return { via: 'http', url: url.href, headers: templates, hasKey, isLiteral: false };
}

/** Returns whether there is a key: without one, additional headers may authenticate instead. */
function mayHaveKey(app: App): boolean {
  const { context, settings } = app;
  const isSaved = settings.profile.key !== undefined || keyCommandOf(app) !== undefined;
  return isSaved || variable(context.env, KEY_VARIABLE) !== undefined;
}

/** Checks that a header can be part of an entry without a secret in it. @throws {AppError} `usage` */
function assertReferable(client: McpClient, name: string, value: string): void {
  const stdio = `restaurant mcp config ${client.name} --via stdio`;
  const refers = /\$\{\w+\}/.test(value);
  if (!refers && !isHarmless(name)) {
    throw new AppError('usage', `the value of the header ${name} would be written into the file`, {
      hint: `restaurant config set header.${name} '\${VARIABLE}' refers to a variable; or use the bridge: ${stdio}`,
    });
  }
  const canRefer = client.reference !== undefined || (client.namesVariables && VARIABLE.test(value));
  if (refers && canRefer !== true) {
    throw new AppError('usage', `${client.name} cannot read the header ${name} from a variable`, {
      hint: `${stdio}, or add --literal-key`,
    });
  }
}

function masked(app: App, target: Target): Target {
  if (target.via === 'stdio' || !target.isLiteral) return target;
  const { headers, literalKey } = target;
  const shown = Object.entries(headers).map(([name, value]) => [name, shownHeader(name, value)]);
  const key =
    literalKey === undefined ? {} : { literalKey: maskKey(literalKey, app.settings.need('key-prefix')) };
  return { ...target, headers: Object.fromEntries(shown), ...key };
}

function writeEntry(app: App, { client, scope, path, target, entry, shown }: Plan): WriteResult {
  const { file, project } = path;
  if (project !== undefined) {
    for (const each of [file, ...backupPaths(file)]) assertNoLinks(project, each, pathOf(app.context));
  }
  const before = readClientFile(file);
  const text = before?.text ?? '';
  const { text: after, existing, merged } = edit(client, text, entry, file);
  const disabled = merged.enabled === false || merged.disabled === true;
  if (after === text) return { changed: false, lines: [], disabled };
  const backup = writeClientFile({
    path: file,
    before,
    text: after,
    secret: target.via === 'http' && target.isLiteral,
    newMode: scope === 'project' ? 0o644 : 0o600,
    followLinks: project === undefined,
  });
  const lines = changedKeys(existing, merged, shown.value);
  return { changed: true, lines, disabled, ...(backup === undefined ? {} : { backup }) };
}

function edit(client: McpClient, text: string, entry: Entry, file: string): Edit {
  try {
    return (client.format === 'toml' ? editToml : editJson)(text, client.servers ?? SERVERS, entry, file);
  } catch (error) {
    if (error instanceof RangeError) throw invalidConfig(file, 'it is nested too deeply');
    throw error;
  }
}

/**
 * Lists the changed keys of our own entry: removed ones by name, because their values may be somebody's secrets, and
 * new ones with the value that is safe to show. Nothing else of the file is shown.
 */
function changedKeys(existing: unknown, merged: JsonObject, shown: JsonObject): string[] {
  const old = typeof existing === 'object' ? ({ ...existing } as JsonObject) : {};
  const removed = Object.keys(old).filter((key) => !(key in merged));
  const changed = Object.keys(shown).filter((key) => !isDeepStrictEqual(old[key], merged[key]));
  return [
    ...removed.map((key) => `- ${key}`),
    ...changed.map((key) => `+ ${key}: ${JSON.stringify(shown[key])}`),
  ].map(cleanLine);
}

/** Formats the entry as the file must contain it, for copying, and nothing else. */
function formatEntry({ client, shown }: Plan): string {
  return client.format === 'toml'
    ? tomlTable(client.servers ?? SERVERS, shown.value)
    : `${JSON.stringify(snippet(client, shown), null, 2)}\n`;
}

function formatWritten({ path }: Plan, { changed, backup, lines }: WriteResult): string {
  const file = cleanLine(path.file);
  if (!changed) return `${file} already has this entry\n`;
  const kept = backup === undefined ? '' : `; the previous version is in ${cleanLine(backup)}`;
  return `wrote ${file}${kept}\n${lines.map((line) => `${line}\n`).join('')}`;
}

/** Returns the client's own command that adds the same entry, if there is one and it would not contain a key. */
function clientCommand({ client, target, entry, scope }: Plan): string | undefined {
  if (client.name !== 'claude-code' || (target.via === 'http' && target.isLiteral)) return undefined;
  return `claude mcp add-json --scope ${scope} ${ENTRY_NAME} ${shellWord(JSON.stringify(entry.value))}`;
}

/** Problems that keep the client from starting the bridge. */
function warnings(app: App, { client, target }: Plan): string[] {
  if (target.via === 'http') return [];
  const installed = findInstalled(app.context);
  if (installed.state === 'missing') {
    return [`${COMMAND} is not on the PATH, so ${client.name} cannot start it: ${INSTALL_HINT}`];
  }
  return installed.state === 'other'
    ? [`${installed.path} is another program, and ${client.name} would start it: ${INSTALL_HINT}`]
    : [];
}

/** Lists what a person should know about the entry. */
function notes(app: App, plan: Plan, written: WriteResult | undefined): string[] {
  const { client, scope, path } = plan;
  const command = clientCommand(plan);
  const write = `add it to ${path.file}, or run: restaurant mcp config ${client.name} --write`;
  return [
    ...(written === undefined ? [write] : []),
    ...(written === undefined && command !== undefined ? [`or run: ${command}`] : []),
    ...(written?.disabled === true ? [`the entry is switched off in ${path.file}`] : []),
    ...(scope === 'project' && client.projectNote !== undefined ? [client.projectNote] : []),
    ...keyNotes(app, plan),
  ];
}

function keyNotes(app: App, { client, target }: Plan): string[] {
  if (target.via === 'stdio') {
    const login = app.settings.profile.key === undefined ? '; restaurant login saves one' : '';
    const env = client.passesEnv === undefined ? `, or ${KEY_VARIABLE} when it is set` : '';
    return [`the bridge uses the saved login${env}${login}`];
  }
  if (target.isLiteral || !target.hasKey || client.inputs !== undefined) return [];
  const note = `${client.name} reads the key from ${KEY_VARIABLE} when it starts`;
  return client.referenceNote === undefined ? [note] : [note, client.referenceNote];
}

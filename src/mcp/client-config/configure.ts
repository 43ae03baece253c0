import type { App } from '../../app/app.ts';
import { completeHint } from '../../app/command-line.ts';
import { writeText } from '../../app/output.ts';
import {
  configuredEndpoint,
  requestHeaders,
  requireEndpoint,
  requireKey,
  shownHeader,
  supportsMcp,
} from '../../app/target.ts';
import { assertMayCarryKey } from '../../client/endpoint.ts';
import { isHarmless } from '../../client/http/headers.ts';
import { maskKey } from '../../client/key.ts';
import { AppError } from '../../errors.ts';
import type { JsonObject } from '../../util/object.ts';
import { shellWord } from '../../util/shell.ts';
import { cleanLine } from '../../util/text.ts';
import { bridgeProblem, checkEntry, INSTALL_HINT } from './check.ts';
import { changeClientFile, clientPath, type FileChange, projectFolder } from './client-file.ts';
import { KEY_VARIABLE, type McpClient, type Scope, type TransportKind } from './clients.ts';
import { editText, formatSnippet } from './edit.ts';
import {
  assertNotForeign,
  type BridgeVariables,
  buildEntry,
  type Connection,
  chooseTransport,
  ENTRY_NAME,
  KEY_HEADER,
  maskOthers,
  mergeEntry,
  refersToKey,
  VARIABLE,
} from './entry.ts';
import { bridgeVariables, variablesProblem } from './environment.ts';

/** Options of `mcp config`. */
export interface ConfigOptions {
  via?: TransportKind;
  scope?: Scope;
  write?: true;
  check?: true;
  literalKey?: true;
}

/** An entry and its file. */
type Plan = Awaited<ReturnType<typeof planEntry>>;

/**
 * Prints the entry that lets an MCP client use the service, or writes it into the client's file. With `check`, it first
 * connects like the client. If that fails, nothing is written.
 */
export async function configureClient(app: App, client: McpClient, options: ConfigOptions): Promise<void> {
  const plan = await planEntry(app, client, options);
  const { connection, file, shown } = plan;
  const check = options.check === true ? await checkEntry(app, client, connection) : undefined;
  const written = options.write === true ? await writeEntry(app, plan) : undefined;
  const displayed = { ...shown, value: written?.displayed ?? shown.value };
  const command = written === undefined ? clientCommand(plan) : undefined;
  const json = {
    client: client.name,
    via: connection.via,
    file,
    entry: displayed.value,
    inputs: shown.input && [shown.input],
    command,
    written: written?.isChanged ?? false,
    backup: written?.backup,
    check,
  };
  // Without --write, stdout contains only the entry, so that it can be redirected to a file.
  const status = written === undefined ? '' : `${cleanLine(describeWrite(file, written))}\n`;
  await writeText(app, json, () => status + formatSnippet(client, displayed));
  if (check !== undefined) {
    await app.note(`check: ${client.name} can connect; the service has ${check.tools} tools`);
  }
  for (const problem of problems(app, plan, options)) await app.warn(completeHint(app, problem));
  for (const note of notes(app, plan, written, command)) await app.note(note);
}

/**
 * Determines the entry and its file.
 * @throws {AppError} `usage` if the client does not support the options; `no_service` or `no_key` if the entry requires
 * one
 */
async function planEntry(app: App, client: McpClient, options: ConfigOptions) {
  const literalKey = options.literalKey === true;
  const demo = app.globals.demo === true;
  const isPlain = () => supportsMcp(app) === false;
  const via = chooseTransport(client, { via: options.via, literalKey, demo, isPlain });
  const scope = options.scope ?? (literalKey ? 'user' : (client.scope ?? 'user'));
  if (literalKey && scope === 'project') {
    throw new AppError('usage', 'a key is never written into a project file, which other people can read', {
      hint: 'add --scope user, or leave out --literal-key',
    });
  }
  const file = clientPath(client, scope, app.context);
  const connection =
    via === 'stdio'
      ? stdioConnection(app, bridgeVariables(app, client, scope))
      : await httpConnection(app, client, literalKey);
  const entry = buildEntry(client, connection, scope);
  const shown = buildEntry(client, masked(app, connection), scope);
  return { client, scope, file, connection, entry, shown };
}

/** Settings that an entry for the bridge repeats. */
const REPEATED_SETTINGS = ['profile', 'base-url', 'endpoint', 'protocol'] as const;

/** Returns the bridge with the options of this run. */
function stdioConnection(app: App, variables: BridgeVariables): Connection {
  const { globals, settings } = app;
  // Check the URL before it becomes part of a command line.
  configuredEndpoint(app);
  app.warnOfIgnoredConfig();
  const args = ['mcp'];
  // The embedded sandbox has no address and no key.
  for (const name of globals.demo === true ? (['protocol'] as const) : REPEATED_SETTINGS) {
    const { value, source } = settings.raw(name);
    if (value !== null && (source === 'flag' || source === 'env')) args.push(`--${name}`, value);
  }
  if (globals.insecureHttp === true) args.push('--insecure-http');
  if (globals.demo === true) args.push('--demo');
  return { via: 'stdio', args, variables };
}

async function httpConnection(app: App, client: McpClient, literalKey: boolean): Promise<Connection> {
  const { settings, globals } = app;
  const { url } = requireEndpoint(app);
  assertMayCarryKey(url, globals.insecureHttp === true);
  const templates = requestHeaders(app, url, true);
  const key = app.environmentKey ?? settings.profile.key ?? settings.raw('key-command').value;
  // Without a key, additional headers may authenticate instead.
  const hasKey = key !== null || Object.keys(templates).every(isHarmless);
  if (literalKey) {
    const headers = { ...requestHeaders(app, url) };
    if (hasKey) headers.Authorization = `Bearer ${(await requireKey(app, url)).value}`;
    return { via: 'http', url: url.href, headers, isLiteral: true };
  }
  for (const [name, value] of Object.entries(templates)) assertReferable(client, name, value);
  const headers = hasKey ? { ...KEY_HEADER, ...templates } : templates;
  return { via: 'http', url: url.href, headers, isLiteral: false };
}

/** Checks that an entry can contain a header without revealing a secret. @throws {AppError} `usage` */
function assertReferable(client: McpClient, name: string, value: string): void {
  const refers = /\$\{\w+\}/.test(value);
  if (!refers && !isHarmless(name)) {
    throw new AppError('usage', `the value of the header ${name} would be written into the file`, {
      hint: `restaurant config set header.${name} '\${VARIABLE}' refers to a variable; or use the bridge: restaurant … --via stdio`,
    });
  }
  const canRefer = client.reference !== undefined || (client.namesVariables && VARIABLE.test(value));
  if (refers && canRefer !== true) {
    throw new AppError('usage', `${client.name} cannot read the header ${name} from a variable`, {
      hint: 'restaurant … --via stdio, or add --literal-key',
    });
  }
}

/** Masks the key and the values of secret headers, for display. */
function masked(app: App, connection: Connection): Connection {
  if (connection.via === 'stdio' || !connection.isLiteral) return connection;
  const prefix = app.settings.get('key-prefix');
  const shown = Object.entries(connection.headers).map(([name, value]) => [
    name,
    name === 'Authorization' ? `Bearer ${maskKey(value, prefix)}` : shownHeader(name, value),
  ]);
  return { ...connection, headers: Object.fromEntries(shown) };
}

/** Writes the entry. @returns also the entry as it is in the file, without what may be secret */
async function writeEntry(app: App, { client, scope, file, connection, entry, shown }: Plan) {
  const isShared = scope === 'project';
  const options = {
    project: isShared ? projectFolder(app.context) : undefined,
    isSecret: connection.via === 'http' && connection.isLiteral,
  };
  const dropped = isShared ? client.projectDrops : [];
  let former: unknown;
  const change = await changeClientFile(app.context, file, options, (text) =>
    editText(client, text, entry.input, (existing) => {
      former = existing;
      const merged = mergeEntry(existing, entry.value, dropped);
      if (isShared) assertNotForeign(file, merged, entry.value);
      return merged;
    }),
  );
  const merged = mergeEntry(former, shown.value, dropped);
  return {
    ...change,
    isOff: merged.enabled === false || merged.disabled === true,
    displayed: maskOthers(merged, shown.value) as JsonObject,
  };
}

/** Reasons why the entry may not work. */
function problems(app: App, { client, connection }: Plan, { write }: ConfigOptions): string[] {
  if (connection.via === 'http') {
    const isPlain = supportsMcp(app) === false;
    return isPlain ? ['the service supports no MCP client directly; use restaurant … --via stdio'] : [];
  }
  const missing = bridgeProblem(app, client);
  const variables = write === true ? variablesProblem(client, connection.variables) : undefined;
  return [missing && `${missing}: ${INSTALL_HINT}`, variables].filter((each) => each !== undefined);
}

function describeWrite(file: string, { isChanged, backup }: FileChange): string {
  if (!isChanged) return `${file} already has this entry:`;
  return backup === undefined ? `wrote ${file}:` : `wrote ${file}; the previous version is in ${backup}:`;
}

/** Returns the client's own command that adds the same entry, if it has one and it would not contain a key. */
function clientCommand({ client, connection, entry, scope }: Plan): string | undefined {
  if (client.name !== 'claude-code' || (connection.via === 'http' && connection.isLiteral)) return undefined;
  return `claude mcp add-json --scope ${scope} ${ENTRY_NAME} ${shellWord(JSON.stringify(entry.value))}`;
}

/** Lists notes for the user about the entry. */
function notes(
  app: App,
  { client, scope, file, connection }: Plan,
  written: Awaited<ReturnType<typeof writeEntry>> | undefined,
  command: string | undefined,
): string[] {
  const { name } = client;
  const texts = [
    written === undefined && completeHint(app, `add it to ${shellWord(file)}, or run: restaurant … --write`),
    command !== undefined && `or run: ${command}`,
    written?.isOff && `the entry is disabled in ${file}`,
    scope === 'project' && client.projectNote,
  ];
  if (connection.via === 'stdio') {
    const login = app.settings.profile.key === undefined ? '; restaurant login saves one' : '';
    const env = client.passesEnv === undefined ? `, or ${KEY_VARIABLE} when it is set` : '';
    texts.push(`the bridge uses the saved login${env}${login}`);
  } else if (refersToKey(connection) && client.input === undefined) {
    texts.push(`${name} reads the key from ${KEY_VARIABLE} when it starts`, client.httpNote);
  }
  return texts.filter((text) => typeof text === 'string');
}

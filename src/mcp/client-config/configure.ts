import { supportsMcp } from '../../app/address.ts';
import type { App } from '../../app/app.ts';
import { hintOf } from '../../app/hints.ts';
import { writeText } from '../../app/output.ts';
import { isPreview } from '../../app/request.ts';
import { usage } from '../../errors.ts';
import { again, fragment, system } from '../../hint.ts';
import { commandText } from '../../output/hint-text.ts';
import type { JsonObject } from '../../util/json.ts';
import { nearest } from '../../util/nearest.ts';
import { cleanLine } from '../../util/text.ts';
import { bridgeProblem, checkBridge, installHint } from './check.ts';
import { changeClientFile, clientPaths, type FileChange, projectFolder } from './client-file.ts';
import {
  ENTRY_NAME,
  MCP_CLIENTS,
  type McpClient,
  otherClient,
  type Scope,
  type TransportKind,
} from './clients.ts';
import { editText, entryIn, formatSnippet } from './edit.ts';
import { httpEntry, isOurs, mergeEntry, type StdioEntry, stdioEntry } from './entry.ts';
import { KEY_VARIABLE, missingVariables } from './variables.ts';

export interface ConfigOptions {
  via?: TransportKind;
  scope?: Scope;
  write?: true;
  remove?: true;
  check?: true;
}

export async function configureClient(app: App, name: string, options: ConfigOptions): Promise<void> {
  const client = MCP_CLIENTS.find((each) => each.name === name) ?? unlistedClient(name);
  const scope = options.scope ?? client.scope ?? 'user';
  if (options.remove === true) return removeEntry(app, client, scope);
  if (options.via === 'http') return printHttp(app, client, scope, options);
  const entry = stdioEntry(app, client, scope);
  const check = options.check === true ? await checkBridge(app, client, entry) : undefined;
  const problem = bridgeProblem(app, client);
  if (problem !== undefined) await app.notes.warn(hintOf(app, [{ text: problem }, ...installHint(app)]));
  if (options.write === true) await writeEntry(app, client, scope, entry, check);
  else await printStdio(app, client, scope, entry, check);
  if (check !== undefined) {
    await app.notes.note(`check: ${client.name} can connect; the service has ${check.tools} tools`);
  }
  if (options.write !== true) return;
  const missing = missingVariables(app, client, entry.variables);
  if (missing.length > 0) await app.notes.warn(hintOf(app, missing));
}

/** @throws {AppError} `usage` for a misspelled name of a client */
function unlistedClient(name: string): McpClient {
  const names = MCP_CLIENTS.map((each) => each.name);
  const [near] = nearest(name, names);
  if (near === undefined) return otherClient(name);
  throw usage(`unknown client '${name}'`, { text: 'did you mean', command: again({}, { operands: [near] }) });
}

type Check = Awaited<ReturnType<typeof checkBridge>> | undefined;

async function printStdio(app: App, client: McpClient, scope: Scope, entry: StdioEntry, check: Check) {
  const { value, program } = entry;
  const add = client.add?.(program, scope, value) ?? otherCommand(client);
  const command = add && commandText(add, app.context);
  const files = client.user === undefined ? [] : clientPaths(client, scope, app.context);
  const json = {
    client: client.name,
    via: 'stdio',
    ...filesOf(files),
    entry: value,
    command,
    written: false,
    check,
  };
  if (command !== undefined) await app.notes.note(`run: ${command}`, false);
  await writeText(app, json, () => formatSnippet(client, value));
  if (client.user === undefined) {
    await app.notes.note(`most clients read this entry; add it to the file of ${cleanLine(client.name)}`);
  } else {
    const places = files.map((file) => commandText(fragment(file), app.context)).join(' and ');
    const write = again({ '--write': true }, { without: ['--dry-run'] });
    const text = `${command === undefined ? '' : 'or '}add it to ${places}, or run`;
    await app.notes.note(hintOf(app, { text, command: write }), false);
  }
  await noteKey(app, client, scope, entry);
}

/** For a client that is not known: a program that knows many more of them. */
const otherCommand = ({ user }: McpClient) =>
  user === undefined ? system('npx add-mcp', 'restaurant mcp') : undefined;

const filesOf = (files: readonly string[]): JsonObject => ({
  ...(files[0] !== undefined && { file: files[0] }),
  ...(files.length > 1 && { files }),
});

async function printHttp(app: App, client: McpClient, scope: Scope, options: ConfigOptions) {
  const flag = (['write', 'check'] as const).find((each) => options[each] === true);
  if (flag !== undefined) {
    throw usage(`--${flag} is for stdio entries; an http entry is only printed`, {
      command: again({}, { without: ['--via'] }),
    });
  }
  const entry = httpEntry(app, client);
  const add = client.name === 'claude-code' ? client.add : undefined;
  const command = add?.({ command: '', args: [] }, scope, entry);
  const shown = command && commandText(command, app.context);
  const files = client.user === undefined ? [] : clientPaths(client, scope, app.context);
  const json = { client: client.name, via: 'http', ...filesOf(files), entry, command: shown, written: false };
  if (shown !== undefined) await app.notes.note(`run: ${shown}`, false);
  await writeText(app, json, () => formatSnippet(client, entry));
  if (supportsMcp(app) === false) {
    const bridge = { text: 'use stdio', command: again({}, { without: ['--via'] }) };
    await app.notes.warn(hintOf(app, [{ text: 'the service supports no MCP client directly' }, bridge]));
  }
  await app.notes.note(`${client.name} reads the key from ${KEY_VARIABLE} when it starts`);
}

async function writeEntry(app: App, client: McpClient, scope: Scope, entry: StdioEntry, check: Check) {
  let former: unknown;
  const { changes, files } = await changeFiles(app, client, scope, (existing) => {
    former = existing;
    return mergeEntry(existing, entry.value, scope);
  });
  const isChanged = changes.some((change) => change.isChanged);
  const backup = changes.find((change) => change.backup !== undefined)?.backup;
  const json = {
    client: client.name,
    via: 'stdio',
    ...filesOf(files),
    entry: entry.value,
    written: isChanged && !isPreview(app),
    backup,
    check,
  };
  const status = changes.map((change) => `${cleanLine(describeWrite(change, isPreview(app)))}\n`).join('');
  await writeText(app, json, () => status + formatSnippet(client, entry.value));
  if (former !== undefined && !isOurs(former)) {
    await app.notes.warn(
      isPreview(app)
        ? 'it would replace an entry of another program'
        : `it replaced an entry of another program, which is in ${backup}`,
    );
  }
  const merged = mergeEntry(former, entry.value, scope);
  if (merged.enabled === false || merged.disabled === true) {
    await app.notes.note(`the entry is disabled in ${files[0]}`);
  }
  await noteKey(app, client, scope, entry);
}

async function removeEntry(app: App, client: McpClient, scope: Scope): Promise<void> {
  const { changes, files } = await changeFiles(app, client, scope, () => undefined);
  const [{ isChanged, backup } = { isChanged: false, backup: undefined }] = changes;
  const written = isChanged && !isPreview(app);
  await writeText(app, { client: client.name, ...filesOf(files), written, backup }, () =>
    changes.map((change) => describeRemoval(change, isPreview(app))).join(''),
  );
}

type NamedChange = FileChange & { readonly file: string };

async function changeFiles(
  app: App,
  client: McpClient,
  scope: Scope,
  merge: (existing: unknown) => JsonObject | undefined,
) {
  const project = scope === 'project' ? projectFolder(app.context) : undefined;
  // The only copy of an entry that an earlier --write replaced.
  const isForeign = (text: string): boolean => {
    const entry = entryIn(client, text);
    return entry !== undefined && !isOurs(entry);
  };
  const keepsBackup = (backup: string, text: string) => isForeign(backup) && !isForeign(text);
  const files = clientPaths(client, scope, app.context);
  const options = { isPreview: isPreview(app), project, keepsBackup };
  const edit = (text: string) => editText(client, text, merge);
  const changes: NamedChange[] = [];
  for (const file of files) {
    changes.push({ file, ...(await changeClientFile(app.context, file, options, edit)) });
  }
  return { changes, files };
}

function describeWrite({ file, isChanged, backup }: NamedChange, preview: boolean): string {
  if (!isChanged) return `${file} already has this entry:`;
  if (preview) return `would write ${file}:`;
  return backup === undefined ? `wrote ${file}:` : `wrote ${file}; the previous version is in ${backup}:`;
}

function describeRemoval({ file, isChanged, backup }: NamedChange, preview: boolean): string {
  if (!isChanged) return `${file} has no entry named ${ENTRY_NAME}\n`;
  if (preview) return `would remove ${ENTRY_NAME} from ${file}\n`;
  return `removed ${ENTRY_NAME} from ${file}; the previous version is in ${backup}\n`;
}

async function noteKey(app: App, client: McpClient, scope: Scope, { variables }: StdioEntry) {
  if (scope === 'project' && client.projectNote !== undefined) await app.notes.note(client.projectNote);
  const login = app.settings.profile.key === undefined ? '; restaurant login saves one' : '';
  const passesKey = client.passesEnv === undefined || variables.names.includes(KEY_VARIABLE);
  const env = passesKey ? `, or ${KEY_VARIABLE} when it is set` : '';
  await app.notes.note(`the bridge uses the saved login${env}${login}`);
}

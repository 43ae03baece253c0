import { isPreview, supportsMcp } from '../../app/address.ts';
import type { App } from '../../app/app.ts';
import { hintLine } from '../../app/hint-line.ts';
import { writeText } from '../../app/output.ts';
import { usage } from '../../errors.ts';
import { again, fragment } from '../../hint.ts';
import { commandText } from '../../output/hint-text.ts';
import type { JsonObject } from '../../util/json.ts';
import { withNearest } from '../../util/nearest.ts';
import { cleanLine } from '../../util/text.ts';
import { checkBridge, INSTALL } from './check.ts';
import { changeClientFile, clientPaths, type FileChange, projectFolder } from './client-file.ts';
import {
  ENTRY_NAME,
  KEY_VARIABLE,
  MCP_CLIENTS,
  type McpClient,
  otherClient,
  type Scope,
  type TransportKind,
} from './clients.ts';
import { editText, entryIn, formatSnippet } from './edit.ts';
import {
  type Entry,
  httpEntry,
  isOurs,
  mergeEntry,
  type StdioEntry,
  stdioEntry,
  USE_STDIO,
} from './entry.ts';

export interface ConfigOptions {
  via?: TransportKind;
  scope?: Scope;
  write?: true;
  remove?: true;
  check?: true;
}

type Check = Awaited<ReturnType<typeof checkBridge>>;

interface Job {
  readonly app: App;
  readonly client: McpClient;
  readonly scope: Scope;
}

export async function configureClient(app: App, name: string, options: ConfigOptions): Promise<void> {
  const client = MCP_CLIENTS.find((each) => each.name === name) ?? unlistedClient(name);
  const job = { app, client, scope: options.scope ?? client.scope ?? 'user' };
  if (options.remove === true) return changeFiles(job);
  if (options.via === 'http') return printHttp(job, options);
  const entry = stdioEntry(app, client, job.scope);
  const check = options.check === true ? await checkBridge(app, entry) : undefined;
  if (entry.problem !== undefined) await app.notes.warn(hintLine(app, [{ text: entry.problem }, INSTALL]));
  if (options.write === true) await changeFiles(job, entry, check);
  else await printStdio(job, entry, check);
  await noteKey(job, entry);
  if (check !== undefined) {
    await app.notes.note(`check: ${client.name} can connect; the service has ${check.tools} tools`);
  }
  if (options.write === true && entry.missing.length > 0) await app.notes.warn(hintLine(app, entry.missing));
}

/** @throws {AppError} `usage` for a misspelled name of a client */
function unlistedClient(name: string): McpClient {
  const names = MCP_CLIENTS.map((each) => each.name);
  const near = withNearest([name], names);
  if (near === undefined) return otherClient(name);
  throw usage(`unknown client '${name}'`, { text: 'did you mean', ...near });
}

async function printHttp(job: Job, options: ConfigOptions): Promise<void> {
  const { app, client, scope } = job;
  const flag = (['write', 'check'] as const).find((each) => options[each] === true);
  if (flag !== undefined) {
    throw usage(`--${flag} is for stdio entries; an http entry is only printed`, USE_STDIO);
  }
  await printEntry(job, httpEntry(app, client, scope));
  if (supportsMcp(app) === false) {
    const problem = { text: 'the service supports no MCP client directly' };
    await app.notes.warn(hintLine(app, [problem, { text: 'use stdio', ...USE_STDIO }]));
  }
  await app.notes.note(`${client.name} reads the key from ${KEY_VARIABLE} when it starts`);
}

async function printStdio(job: Job, entry: StdioEntry, check?: Check): Promise<void> {
  const { app, client } = job;
  const files = await printEntry(job, entry, check);
  if (files.length === 0) {
    await app.notes.note(`most clients read this entry; add it to the file of ${cleanLine(client.name)}`);
    return;
  }
  const places = files.map((file) => commandText(fragment(file), app.context)).join(' and ');
  const text = `${entry.command === undefined ? '' : 'or '}add it to ${places}, or run`;
  const command = again({ '--write': true }, { without: ['--dry-run'] });
  await app.notes.note(hintLine(app, { text, command }), false);
}

async function printEntry({ app, client, scope }: Job, entry: Entry, check?: Check): Promise<string[]> {
  const { via, value } = entry;
  const command = entry.command && commandText(entry.command, app.context);
  const files = client.user === undefined ? [] : clientPaths(client, scope, app.context);
  if (command !== undefined) await app.notes.note(`run: ${command}`, false);
  const json = { client: client.name, via, ...filesOf(files), entry: value, command, written: false, check };
  await writeText(app, json, () => formatSnippet(client, value));
  return files;
}

const filesOf = (files: readonly string[]): JsonObject => ({
  ...(files[0] !== undefined && { file: files[0] }),
  ...(files.length > 1 && { files }),
});

/** Writes an entry into the files of a client; without one, removes ours. */
async function changeFiles({ app, client, scope }: Job, entry?: StdioEntry, check?: Check): Promise<void> {
  const { context, notes } = app;
  const preview = isPreview(app);
  const project = scope === 'project' ? projectFolder(context) : undefined;
  const value = entry?.value;
  let former: unknown;
  function edit(text: string): string {
    former = entryIn(client, text);
    return editText(client, text, value && mergeEntry(former, value, scope));
  }
  // The only copy of an entry that an earlier --write replaced.
  const isForeign = (text: string): boolean => isOfOthers(entryIn(client, text));
  const keepsBackup = (backup: string, text: string) => isForeign(backup) && !isForeign(text);
  const files = clientPaths(client, scope, context);
  const changes: NamedChange[] = [];
  for (const file of files) {
    const options = { isPreview: preview, project, keepsBackup };
    changes.push({ file, ...(await changeClientFile(context, file, options, edit)) });
  }
  const written = !preview && changes.some(({ isChanged }) => isChanged);
  const backup = changes.find((change) => change.backup !== undefined)?.backup;
  const json = { client: client.name, ...(value && { via: 'stdio' }), ...filesOf(files), entry: value };
  await writeText(app, { ...json, written, backup, check }, () => {
    const lines = changes.map((change) => `${cleanLine(describe(change, preview, value !== undefined))}\n`);
    return lines.join('') + (value === undefined ? '' : formatSnippet(client, value));
  });
  if (value === undefined) return;
  if (isOfOthers(former)) {
    await notes.warn(
      preview
        ? 'it would replace an entry of another program'
        : `it replaced an entry of another program, which is in ${backup}`,
    );
  }
  const { enabled, disabled } = mergeEntry(former, value, scope);
  if (enabled === false || disabled === true) await notes.note(`the entry is disabled in ${files[0]}`);
}

const isOfOthers = (entry: unknown): boolean => entry !== undefined && !isOurs(entry);

type NamedChange = FileChange & { readonly file: string };

/** Describes the change of a file, or the one that would be made. A colon precedes the entry. */
function describe({ file, isChanged, backup }: NamedChange, preview: boolean, writes: boolean): string {
  const kept = backup === undefined ? '' : `; the previous version is in ${backup}`;
  if (!isChanged)
    return writes ? `${file} already has this entry:` : `${file} has no entry named ${ENTRY_NAME}`;
  if (preview) return writes ? `would write ${file}:` : `would remove ${ENTRY_NAME} from ${file}`;
  return writes ? `wrote ${file}${kept}:` : `removed ${ENTRY_NAME} from ${file}${kept}`;
}

async function noteKey({ app, client, scope }: Job, { env }: StdioEntry): Promise<void> {
  if (scope === 'project' && client.projectNote !== undefined) await app.notes.note(client.projectNote);
  const login = app.settings.profile.key === undefined ? '; restaurant login saves one' : '';
  const passesKey = client.passesEnv === undefined || env[KEY_VARIABLE] !== undefined;
  const variable = passesKey ? `, or ${KEY_VARIABLE} when it is set` : '';
  await app.notes.note(`the bridge uses the saved login${variable}${login}`);
}

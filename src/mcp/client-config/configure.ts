import type { App } from '../../app/app.ts';
import { hintOf } from '../../app/hints.ts';
import { writeText } from '../../app/output.ts';
import { supportsMcp } from '../../app/target.ts';
import { again, fragment, type Hint, system } from '../../hint.ts';
import { commandText } from '../../output/hint-text.ts';
import type { JsonObject } from '../../util/json.ts';
import { cleanLine } from '../../util/text.ts';
import { bridgeProblem, checkEntry, INSTALL_HINT } from './check.ts';
import { changeClientFile, clientPath, type FileChange, projectFolder } from './client-file.ts';
import { KEY_VARIABLE, type McpClient, type Scope } from './clients.ts';
import { editText, formatSnippet } from './edit.ts';
import { assertNotForeign, ENTRY_NAME, maskOthers, mergeEntry, refersToKey } from './entry.ts';
import { type ConfigOptions, type Plan, planEntry, variablesProblems } from './plan.ts';

export async function configureClient(app: App, client: McpClient, options: ConfigOptions): Promise<void> {
  if (options.remove === true) return removeEntry(app, client, options.scope ?? client.scope ?? 'user');
  const plan = await planEntry(app, client, options);
  const { connection, file, shown } = plan;
  const check = options.check === true ? await checkEntry(app, client, connection) : undefined;
  const written = options.write === true ? await writeEntry(app, plan) : undefined;
  const displayed = { ...shown, value: written?.displayed ?? shown.value };
  const command = written === undefined ? clientCommand(app, plan) : undefined;
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
    await app.notes.note(`check: ${client.name} can connect; the service has ${check.tools} tools`);
  }
  for (const problem of problems(app, plan, options)) await app.notes.warn(hintOf(app, problem));
  if (written === undefined)
    for (const line of commands(app, plan, command)) await app.notes.note(line, false);
  for (const note of notes(app, plan, written)) await app.notes.note(note);
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

async function removeEntry(app: App, client: McpClient, scope: Scope): Promise<void> {
  const file = clientPath(client, scope, app.context);
  const options = { project: scope === 'project' ? projectFolder(app.context) : undefined, isSecret: false };
  const { isChanged, backup } = await changeClientFile(app.context, file, options, (text) =>
    editText(client, text, client.input, () => undefined),
  );
  await writeText(app, { client: client.name, file, written: isChanged, backup }, () =>
    isChanged
      ? `removed ${ENTRY_NAME} from ${file}; the previous version is in ${backup}\n`
      : `${file} has no entry named ${ENTRY_NAME}\n`,
  );
}

function problems(app: App, { client, connection }: Plan, { write }: ConfigOptions): Hint[] {
  if (connection.via === 'http') {
    const command = again({ '--via': 'stdio' });
    return supportsMcp(app) === false
      ? [[{ text: 'the service supports no MCP client directly' }, { text: 'use the bridge', command }]]
      : [];
  }
  const missing = bridgeProblem(app, client);
  const install = missing === undefined ? [] : [{ text: `${missing}: ${INSTALL_HINT}` }];
  return [...install, ...(write === true ? variablesProblems(app, client, connection.variables) : [])];
}

function describeWrite(file: string, { isChanged, backup }: FileChange): string {
  if (!isChanged) return `${file} already has this entry:`;
  return backup === undefined ? `wrote ${file}:` : `wrote ${file}; the previous version is in ${backup}:`;
}

function clientCommand({ context }: App, { client, connection, entry, scope }: Plan): string | undefined {
  if (client.name !== 'claude-code' || (connection.via === 'http' && connection.isLiteral)) return undefined;
  return commandText(
    system('claude mcp add-json', '--scope', scope, ENTRY_NAME, JSON.stringify(entry.value)),
    context,
  );
}

function commands(app: App, { file }: Plan, command: string | undefined): string[] {
  const text = `add it to ${commandText(fragment(file), app.context)}, or run`;
  const own = hintOf(app, { text, command: again({ '--write': true }) });
  return [own, ...(command === undefined ? [] : [`or run: ${command}`])];
}

function notes(
  app: App,
  { client, scope, file, connection }: Plan,
  written: Awaited<ReturnType<typeof writeEntry>> | undefined,
): string[] {
  const { name } = client;
  const texts = [
    written?.isOff && `the entry is disabled in ${file}`,
    scope === 'project' && client.projectNote,
  ];
  if (connection.via === 'stdio') {
    const login = app.settings.profile.key === undefined ? '; restaurant login saves one' : '';
    const passesKey = client.passesEnv === undefined || connection.variables.names.includes(KEY_VARIABLE);
    const env = passesKey ? `, or ${KEY_VARIABLE} when it is set` : '';
    texts.push(`the bridge uses the saved login${env}${login}`);
  } else if (refersToKey(connection) && client.input === undefined) {
    texts.push(`${name} reads the key from ${KEY_VARIABLE} when it starts`, client.httpNote);
  }
  return texts.filter((text) => typeof text === 'string');
}

import { shellWord } from '../../util/shell.ts';
import { cleanLine } from '../../util/text.ts';
import { KEY_VARIABLE } from './clients.ts';
import { tomlTable } from './edit-toml.ts';
import { COMMAND, ENTRY_NAME, snippet } from './entry.ts';
import type { Plan } from './plan.ts';

/** What became of a client's file. */
export interface Written {
  readonly changed: boolean;
  readonly backup?: string;
  /** The lines that changed, without any key. */
  readonly lines: readonly string[];
}

/** The entry as the file shall hold it, for copying, and nothing else. */
export function printed({ client, shown }: Plan): string {
  return client.format === 'toml'
    ? tomlTable(client.servers, shown)
    : `${JSON.stringify(snippet(client, shown), null, 2)}\n`;
}

/** The command of the client that makes the same entry, where it has one and no key would stand in it. */
export function clientCommand({ client, target, scope }: Plan): string | undefined {
  if (client.name !== 'claude-code') return undefined;
  const add = `claude mcp add --scope ${scope}`;
  if (target.via === 'stdio') {
    return `${add} ${ENTRY_NAME} -- ${[COMMAND, ...target.args].map(shellWord).join(' ')}`;
  }
  if (target.literalKey !== undefined) return undefined;
  const header = shellWord(`Authorization: Bearer ${client.reference}`);
  return `${add} --transport http ${ENTRY_NAME} ${shellWord(target.url)} --header ${header}`;
}

/** What was written, as a person reads it. */
export function told({ file }: Plan, { changed, backup, lines }: Written): string {
  const path = cleanLine(file);
  if (!changed) return `${path} has this entry already\n`;
  const kept = backup === undefined ? '' : `; what it was is kept in ${cleanLine(backup)}`;
  return `wrote ${path}${kept}\n${lines.map((line) => `${line}\n`).join('')}`;
}

/** What a person has to know beside the entry. */
export function notes(plan: Plan, written: Written | undefined): string[] {
  const { client, file } = plan;
  const put = `it belongs into ${file}; restaurant mcp config ${client.name} --write puts it there`;
  const command = clientCommand(plan);
  const ways = [put, ...(command === undefined ? [] : [`or run: ${command}`])];
  const key = keyNote(plan);
  return [...(written === undefined ? ways : []), ...(key === undefined ? [] : [key])];
}

function keyNote({ client, target, loggedIn }: Plan): string | undefined {
  if (target.via === 'stdio') {
    return loggedIn
      ? 'the bridge takes the saved login'
      : 'the bridge takes the saved login: restaurant login saves one';
  }
  if (target.literalKey !== undefined || client.inputs !== undefined) return undefined;
  return `${client.name} reads the key from ${KEY_VARIABLE} where it is started`;
}

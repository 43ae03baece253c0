import type { App } from '../../app/app.ts';
import { writeText } from '../../app/output.ts';
import { cleanLine } from '../../util/text.ts';
import { checkEntry, checkLine } from './check.ts';
import { readClientFile, writeClientFile } from './client-file.ts';
import { changedLines } from './diff.ts';
import { editJson } from './edit-json.ts';
import { editToml } from './edit-toml.ts';
import { type ConfigOptions, clientNamed, type Plan, planEntry } from './plan.ts';
import { clientCommand, notes, printed, told, type Written } from './show.ts';

/**
 * Prints the entry that makes an MCP client use the service, or writes it into the client's file. With `check` one call
 * proves it first; when that fails nothing is written.
 */
export async function configureClient(app: App, name: string, options: ConfigOptions): Promise<void> {
  const plan = planEntry(app, clientNamed(name), options);
  const { client, target, file, shown } = plan;
  const check = options.check === true ? await checkEntry(app, client, target) : undefined;
  const written = options.write === true ? writeEntry(app, plan) : undefined;
  const command = written === undefined ? clientCommand(plan) : undefined;
  const facts = {
    client: client.name,
    via: target.via,
    file,
    entry: shown.value,
    ...(shown.inputs.length === 0 ? {} : { inputs: shown.inputs }),
    ...(command === undefined ? {} : { command }),
    written: written?.changed ?? false,
    ...(written?.backup === undefined ? {} : { backup: written.backup }),
    ...(check === undefined ? {} : { check }),
  };
  await writeText(app, facts, () => {
    const text = written === undefined ? printed(plan) : told(plan, written);
    return check === undefined ? text : `${text}\n${checkLine(check, client)}`;
  });
  for (const note of notes(plan, written)) await app.note(note);
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

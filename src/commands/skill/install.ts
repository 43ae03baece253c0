import { lstatSync, mkdirSync, readlinkSync } from 'node:fs';
import { dirname, posix, win32 } from 'node:path';
import type { App } from '../../app/app.ts';
import { writeText } from '../../app/output.ts';
import { AppError, systemCode } from '../../errors.ts';
import { placeToPath } from '../../mcp/client-config/locations.ts';
import { writeFileAtomic } from '../../storage/atomic.ts';
import { readRegularFile } from '../../storage/files.ts';
import { ioError } from '../../storage/io-error.ts';
import { nearest } from '../../util/nearest.ts';
import { shellWord } from '../../util/shell.ts';
import { AGENT_NAMES, AGENTS, type Agent, type Scope } from './agents.ts';
import { SKILL_NAME } from './text.ts';

type State = 'new' | 'same' | 'different';

/** Largest file that is compared with the skill, in bytes. */
const MAX_BYTES = 1_048_576;

/** Writes the skill into the folder where the agent looks for skills; with --dry-run only prints the path. */
export async function installSkill(app: App, name: string, scope: Scope, text: string): Promise<void> {
  const agent = findAgent(name);
  const { file, parts } = skillFile(app, agent, scope);
  for (const part of parts) refuseLink(part);
  const before = readText(file);
  const state: State = before === undefined ? 'new' : before === text ? 'same' : 'different';
  const preview = app.globals.dryRun === true;
  if (state === 'different' && !preview && app.globals.force !== true) {
    throw new AppError('usage', `${file} exists and is different`, {
      hint: `restaurant skill print | diff - ${shellWord(file)} shows the difference; --force overwrites it`,
    });
  }
  const written = !preview && state !== 'same';
  if (written) write(file, text);
  await writeText(app, { agent: agent.name, scope, file, state, written }, () => `${file}\n`);
  await app.note(stateNote(agent, state, preview));
}

function stateNote({ name }: Agent, state: State, preview: boolean): string {
  if (state === 'same') return 'already installed';
  if (!preview) return `${name} reads it at its next start`;
  return state === 'new' ? 'nothing written' : 'the file is different; --force overwrites it';
}

function findAgent(name: string): Agent {
  const agent = AGENTS.find((each) => each.name === name);
  if (agent !== undefined) return agent;
  const [near] = nearest(name, AGENT_NAMES);
  throw new AppError('usage', `unknown agent '${name}': expected one of ${AGENT_NAMES.join(', ')}`, {
    hint: near === undefined ? 'restaurant skill install --help' : `restaurant skill install ${near}`,
  });
}

/** The file, and the parts of its path that must not be symbolic links: in a project all, for a user the skill itself. */
function skillFile(app: App, agent: Agent, scope: Scope): { file: string; parts: readonly string[] } {
  const path = app.context.platform === 'win32' ? win32 : posix;
  const own = [SKILL_NAME, 'SKILL.md'];
  const base = scope === 'project' ? app.context.cwd() : placeToPath(agent.user, app.context, path);
  const below = scope === 'project' ? [...agent.project.split('/'), ...own] : own;
  const parts = below.map((_part, index) => path.join(base, ...below.slice(0, index + 1)));
  return { file: path.join(base, ...below), parts };
}

/** Rejects a symbolic link, which could lead outside the folder. */
function refuseLink(path: string): void {
  let target: string;
  try {
    if (!lstatSync(path).isSymbolicLink()) return;
    target = readlinkSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return;
    throw ioError('read', path, error);
  }
  throw new AppError('io_error', `${path} is a symbolic link to ${target}; it is not followed`, {
    hint: `replace the link with a folder or file of your own: ls -l ${shellWord(path)}`,
  });
}

function readText(path: string): string | undefined {
  try {
    return readRegularFile(path, MAX_BYTES).toString('utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw ioError('read', path, error);
  }
}

function write(path: string, text: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
  } catch (error) {
    throw ioError('create the folder', dirname(path), error);
  }
  writeFileAtomic(path, text, { mode: 0o644 });
}

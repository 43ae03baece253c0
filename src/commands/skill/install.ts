import { lstatSync, mkdirSync, readlinkSync } from 'node:fs';
import { dirname, posix, win32 } from 'node:path';
import type { App } from '../../app/app.ts';
import { writeText } from '../../app/output.ts';
import { AppError, systemCode } from '../../errors.ts';
import { placeToPath } from '../../mcp/client-config/locations.ts';
import { writeFileAtomic } from '../../storage/atomic.ts';
import { readRegularFile } from '../../storage/files.ts';
import { ioError } from '../../storage/io-error.ts';
import { shellWord } from '../../util/shell.ts';
import { AGENT_NAMES, AGENTS, type Agent, type Scope } from './agents.ts';
import { SKILL_NAME } from './text.ts';

type State = 'new' | 'same' | 'different';

/** Far above any skill. */
const MOST = 1_048_576;

/** Writes the skill into the folder where the agent looks for skills; with --dry-run says where that is. */
export async function installSkill(app: App, name: string, scope: Scope, text: string): Promise<void> {
  const agent = agentNamed(name);
  const { file, parts } = skillFile(app, agent, scope);
  for (const part of parts) refuseLink(part);
  const before = readText(file);
  const state: State = before === undefined ? 'new' : before === text ? 'same' : 'different';
  const preview = app.globals.dryRun === true;
  if (state === 'different' && !preview && app.globals.force !== true) {
    throw new AppError('usage', `${file} exists and holds something else`, {
      hint: `add --force to replace it; restaurant skill print | diff - ${shellWord(file)} shows the difference`,
    });
  }
  const written = !preview && state !== 'same';
  if (written) write(file, text);
  await writeText(app, { agent: agent.name, scope, file, state, written }, () => `${file}\n`);
  await app.note(told(agent, state, preview));
}

function told({ name }: Agent, state: State, preview: boolean): string {
  if (state === 'same') return 'it is there already';
  if (!preview) return `${name} reads it when it starts`;
  return state === 'new' ? 'nothing was written' : 'it holds something else, which --force would replace';
}

function agentNamed(name: string): Agent {
  const agent = AGENTS.find((each) => each.name === name);
  if (agent !== undefined) return agent;
  throw new AppError('usage', `no agent '${name}'`, {
    hint: `restaurant skill install <agent>: ${AGENT_NAMES.join(', ')}`,
  });
}

/** The file, and what of its path must be no symbolic link: below a project everything, for a person the skill itself. */
function skillFile(app: App, agent: Agent, scope: Scope): { file: string; parts: readonly string[] } {
  const path = app.context.platform === 'win32' ? win32 : posix;
  const own = [SKILL_NAME, 'SKILL.md'];
  const base = scope === 'project' ? app.context.cwd() : placeToPath(agent.user, app.context, path);
  const below = scope === 'project' ? [...agent.project.split('/'), ...own] : own;
  const parts = below.map((_part, index) => path.join(base, ...below.slice(0, index + 1)));
  return { file: path.join(base, ...below), parts };
}

/** A link could lead what is written anywhere. */
function refuseLink(path: string): void {
  let target: string;
  try {
    if (!lstatSync(path).isSymbolicLink()) return;
    target = readlinkSync(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return;
    throw ioError('read', path, error);
  }
  throw new AppError('io_error', `${path} is a symbolic link to ${target}: nothing is written through it`, {
    hint: `rm ${shellWord(path)} removes the link; then install again`,
  });
}

function readText(path: string): string | undefined {
  try {
    return readRegularFile(path, MOST).toString('utf8');
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

import type { App } from '../../app/app.ts';
import { writeText } from '../../app/output.ts';
import { AppError, systemCode } from '../../errors.ts';
import {
  assertNoLinks,
  pathOf,
  resolveLocation,
  writeFileWithFolder,
} from '../../mcp/client-config/client-file.ts';
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
  const { file, base } = skillFile(app, agent, scope);
  assertNoLinks(base, file, pathOf(app.context));
  const before = readText(file);
  const state: State = before === undefined ? 'new' : before === text ? 'same' : 'different';
  const preview = app.globals.dryRun === true;
  if (state === 'different' && !preview && app.globals.force !== true) {
    throw new AppError('usage', `${file} exists and is different`, {
      hint: `restaurant skill print | diff - ${shellWord(file)} shows the difference; --force overwrites it`,
    });
  }
  const written = !preview && state !== 'same';
  if (written) writeFileWithFolder(file, text, { mode: 0o644 });
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

/** The file, and the folder below which no part of its path may be a link: the project, or the folder of the user's skills. */
function skillFile(app: App, agent: Agent, scope: Scope): { file: string; base: string } {
  const path = pathOf(app.context);
  const base = scope === 'project' ? app.context.cwd() : resolveLocation(agent.user, app.context);
  const below = scope === 'project' ? [agent.project] : [];
  return { file: path.join(base, ...below, SKILL_NAME, 'SKILL.md'), base };
}

function readText(path: string): string | undefined {
  try {
    return readRegularFile(path, MAX_BYTES).toString('utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw ioError('read', path, error);
  }
}

import { isUtf8 } from 'node:buffer';
import { existsSync, readdirSync } from 'node:fs';
import { win32 } from 'node:path';
import type { Context } from '../../context.ts';
import { type AppError, attempt, failure, usage } from '../../errors.ts';
import { again } from '../../hint.ts';
import { type AgentFile, readAgentFile, writeAgentFile } from '../../storage/agent-file.ts';
import { absolute, homeOf, pathOf } from '../../storage/paths.ts';
import type { McpClient, Scope } from './clients.ts';

type PathContext = Pick<Context, 'env' | 'platform' | 'homedir'>;

/** The disk, as far as it decides which file a client reads. */
interface Disk {
  exists(path: string): boolean;
  list(folder: string): readonly string[];
}

const DISK: Disk = {
  exists: existsSync,
  list: (folder) => attempt(() => readdirSync(folder)) ?? [],
};

/** The files to write: one, or two for a client that may be installed in two ways. */
export function clientPaths(
  { name, user, also = [], project = [] }: McpClient,
  scope: Scope,
  context: PathContext & Pick<Context, 'cwd'>,
  disk = DISK,
): string[] {
  const path = pathOf(context.platform);
  if (user === undefined) {
    throw usage(`the file of '${name}' is not known`, [
      { text: 'add the entry yourself', command: again({}, { without: ['--write', '--remove', '--scope'] }) },
    ]);
  }
  if (scope === 'user') {
    const file = userPath(user, context);
    const others = locate(also, context, disk);
    return others.length === 0 || disk.exists(path.dirname(file)) ? [file, ...others] : others;
  }
  if (project.length === 0) {
    throw usage(`${name} has no project file for MCP servers`, { command: again({ '--scope': 'user' }) });
  }
  const folder = projectFolder(context);
  return [firstExisting(project.map((each) => path.join(folder, each))) ?? folder];
}

export function projectFolder({ cwd }: Pick<Context, 'cwd'>): string {
  try {
    return cwd();
  } catch (cause) {
    throw failure(
      'io_error',
      'cannot use the current folder: it cannot be read or was deleted',
      { text: 'cd into the project, or', command: again({ '--scope': 'user' }) },
      cause,
    );
  }
}

/**
 * Returns the first location whose variable is set, else the first that exists, else the first.
 * @throws {AppError} `bad_config` when the home folder is unknown
 */
export function userPath(locations: readonly string[], context: PathContext): string {
  const variables = locations.filter((location) => location.startsWith('$'));
  const [fromVariable] = locate(variables, context);
  const found = fromVariable ?? firstExisting(locate(locations, context));
  if (found !== undefined) return found;
  throw failure('bad_config', 'cannot locate the file: the home folder is unknown', {
    text: 'set HOME=<folder> and run the command again',
  });
}

/**
 * Returns the paths of locations. Each begins with `$` and a variable, with `~` (the home folder), `CONFIG`
 * ($XDG_CONFIG_HOME or ~/.config), `APP` (the platform's folder for application data), or `WINDOWS` or `LOCAL` (the two of
 * Windows, only there). A name that ends with `*` stands for all that begin like it.
 */
function locate(locations: readonly string[], context: PathContext, disk = DISK): string[] {
  const { env, platform } = context;
  const path = pathOf(platform);
  const home = homeOf(context, path);
  const folder = (variable: string, ...names: string[]): string | undefined =>
    absolute(path, env[variable]) ?? (home && path.join(home, ...names));
  const config = folder('XDG_CONFIG_HOME', '.config');
  const roaming = path === win32 ? folder('APPDATA', 'AppData', 'Roaming') : undefined;
  const mac = platform === 'darwin' ? home && path.join(home, 'Library', 'Application Support') : undefined;
  const roots: Readonly<Record<string, string | undefined>> = {
    '~': home,
    CONFIG: config,
    APP: roaming ?? mac ?? config,
    WINDOWS: roaming,
    LOCAL: path === win32 ? folder('LOCALAPPDATA', 'AppData', 'Local') : undefined,
  };
  const namesIn = (parent: string, name: string): readonly string[] =>
    name.endsWith('*') ? disk.list(parent).filter((each) => each.startsWith(name.slice(0, -1))) : [name];
  return locations.flatMap((location) => {
    const [root = '', ...names] = location.split('/');
    const start = root.startsWith('$') ? absolute(path, env[root.slice(1)]) : roots[root];
    return names.reduce(
      (parents, name) =>
        parents.flatMap((parent) => namesIn(parent, name).map((each) => path.join(parent, each))),
      start === undefined ? [] : [start],
    );
  });
}

const firstExisting = (paths: readonly string[]): string | undefined =>
  paths.find((each) => existsSync(each)) ?? paths[0];

const MAX_BYTES = 4 * 1024 * 1024;
const PERMISSIONS = 0o777;
const MAX_ATTEMPTS = 20;

interface ChangeOptions {
  /** Only says whether the file would change. */
  readonly isPreview?: boolean;
  /** Folder of the project that the file belongs to. Links below it are not followed. */
  readonly project?: string | undefined;
  /** Whether the text of the backup has something that is nowhere else. Such a backup is not replaced. */
  keepsBackup?(backup: string, text: string): boolean;
}

export interface FileChange {
  readonly isChanged: boolean;
  readonly backup?: string | undefined;
}

/**
 * Changes the text of a client's file, or creates it. The previous version is kept as `<file>.bak`. If the client changes
 * the file meanwhile, the edit starts over.
 * @param edit throws a SyntaxError if the text cannot be edited
 * @throws {AppError} `io_error`, `in_use`, `bad_config`; the reason of the context's signal
 */
export async function changeClientFile(
  { signal }: Pick<Context, 'signal'>,
  file: string,
  { isPreview = false, project, keepsBackup = () => false }: ChangeOptions,
  edit: (text: string) => string,
): Promise<FileChange> {
  const client: AgentFile = { path: file, project };
  const backup: AgentFile = { ...client, path: `${file}.bak` };
  for (let round = 1; round <= MAX_ATTEMPTS; round += 1) {
    const { exists, text, mode } = readClientFile(client);
    const edited = editOrThrow(file, text, edit);
    if (edited === text || isPreview) return { isChanged: edited !== text };
    // The edit of a large file takes a while, in which no signal is heard.
    await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    if (exists && !keepsBackup(attempt(() => readClientFile(backup).text) ?? '', text)) {
      writeAgentFile(backup, text, { mode, replacesLink: true });
    }
    const confirm = () => readClientFile(client).text === text;
    const isWritten = writeAgentFile(client, edited, { mode, confirm });
    if (isWritten) return { isChanged: true, ...(exists && { backup: backup.path }) };
  }
  throw failure('in_use', `${file} keeps changing`, {
    text: 'close the program that writes it, then try again',
  });
}

function editOrThrow(file: string, text: string, edit: (text: string) => string): string {
  try {
    return edit(text);
  } catch (error) {
    if (error instanceof RangeError) throw invalidConfig(file, 'it is nested too deeply');
    if (error instanceof SyntaxError) throw invalidConfig(file, error.message);
    throw error;
  }
}

const invalidConfig = (file: string, reason: string): AppError =>
  failure('bad_config', `cannot edit ${file}: ${reason}`, [
    { text: 'fix the file and try again' },
    { text: 'or add the entry yourself', command: again({}, { without: ['--write', '--remove'] }) },
  ]);

function readClientFile(file: AgentFile) {
  const content = readAgentFile(file, MAX_BYTES);
  if (content === undefined)
    return { exists: false, text: '', mode: file.project === undefined ? 0o600 : 0o644 };
  const { bytes, stats } = content;
  if (!isUtf8(bytes)) throw invalidConfig(file.path, 'it is not UTF-8 text');
  return { exists: true, text: bytes.toString('utf8'), mode: stats.mode & PERMISSIONS };
}

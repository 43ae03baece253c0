import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { kill, pid, platform } from 'node:process';
import { attempt, systemCode } from '../errors.ts';

export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** Differs between containers (Linux). */
  readonly namespace?: string;
  /** Id of the boot, and clock ticks since (Linux). */
  readonly start?: string;
}

export function currentProcess(): ProcessIdentity {
  return {
    pid,
    host: hostname(),
    namespace: fromProc(() => readlinkSync('/proc/self/ns/pid')),
    start: startOf(pid),
  };
}

/** Unknown: a process of another machine or container. Without /proc, another one with the same pid counts as running. */
export function stateOf({
  pid: id,
  host,
  namespace,
  start,
}: ProcessIdentity): 'running' | 'ended' | 'unknown' {
  const own = currentProcess();
  if (host !== own.host) return 'unknown';
  if (start?.split(' ')[0] !== own.start?.split(' ')[0]) return 'ended';
  if (namespace !== own.namespace) return 'unknown';
  try {
    kill(id, 0);
  } catch (error) {
    if (systemCode(error) === 'ESRCH') return 'ended';
  }
  return startOf(id) === start ? 'running' : 'ended';
}

function startOf(id: number): string | undefined {
  const stat = statOf(id);
  const boot = fromProc(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim());
  if (stat === undefined || boot === undefined) return undefined;
  return /[ZX]/.test(stat.state) ? 'ended' : `${boot} ${stat.start}`;
}

/** Identifies the terminal of this process. Its session has the id 0 if it began outside of this container. */
export function terminalId(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const { session = '0', terminal = '0' } = statOf('self') ?? {};
  if (session !== '0') return `session ${session} ${statOf(session)?.start ?? ''}`.trimEnd();
  const names = ['TMUX_PANE', 'TERM_SESSION_ID', 'WT_SESSION', 'KITTY_WINDOW_ID', 'WINDOWID'];
  const name = names.find((each) => env[each]);
  if (name !== undefined) return `${name} ${env[name]}`;
  return terminal === '0' ? undefined : `terminal ${terminal}`;
}

/** proc_pid_stat(5). The name in parentheses may contain any character. */
function statOf(id: number | string) {
  const stat = fromProc(() => readFileSync(`/proc/${id}/stat`, 'latin1'));
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state = '', , , session, terminal] = fields;
  return { state, session, terminal, start: fields[19] };
}

/** Elsewhere, a folder of that name is not the system's: Wine shows that of Linux, with other process ids. */
const fromProc = (read: () => string): string | undefined =>
  platform === 'linux' ? attempt(read) : undefined;

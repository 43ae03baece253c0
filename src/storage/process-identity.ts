import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { kill, pid } from 'node:process';
import { systemCode } from '../errors.ts';

/** Which process it was, so that its number in the hands of another is not taken for it. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time in clock ticks since boot; Linux alone tells it cheaply. */
  readonly start?: string;
  /** Id of the running kernel; Linux. */
  readonly boot?: string;
  /** Process number space (container); Linux. */
  readonly space?: string;
  readonly host: string;
  /** When this was written down, in milliseconds since the epoch. */
  readonly at: number;
}

/** This process. @param now milliseconds since the epoch. */
export function currentProcess(now: number): ProcessIdentity {
  return {
    pid,
    start: linuxProcess(pid)?.start,
    boot: bootId(),
    space: numberSpace(),
    host: hostname(),
    at: now,
  };
}

/**
 * Whether the process still runs. Of a process on another machine or in another container nothing can be known:
 * it counts as running.
 */
export function isRunning(identity: ProcessIdentity): boolean {
  if (identity.boot !== bootId()) return identity.host !== hostname();
  if (identity.boot === undefined ? identity.host !== hostname() : identity.space !== numberSpace())
    return true;
  if (!exists(identity.pid)) return false;
  const found = linuxProcess(identity.pid);
  if (found !== undefined) return !found.ended && found.start === identity.start;
  const startedAt = identity.boot === undefined ? startByPs(identity.pid) : undefined;
  return startedAt === undefined || startedAt <= identity.at + 1000;
}

function exists(pid: number): boolean {
  try {
    kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}

/** proc_pid_stat(5): the name stands in parentheses and may hold some itself; state is field 3, start time field 22. */
function linuxProcess(pid: number): { start: string; ended: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const start = fields[19];
    return start === undefined ? undefined : { start, ended: fields[0] === 'Z' || fields[0] === 'X' };
  } catch {
    return undefined;
  }
}

function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
  } catch {
    return undefined;
  }
}

function numberSpace(): string | undefined {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return undefined;
  }
}

/** Start time by ps(1), to the second: macOS and the BSDs. */
function startByPs(pid: number): number | undefined {
  try {
    const options = {
      encoding: 'latin1',
      env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' },
      stdio: 'pipe',
    } as const;
    const time = Date.parse(execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], options).trim());
    return Number.isNaN(time) ? undefined : time;
  } catch {
    return undefined;
  }
}

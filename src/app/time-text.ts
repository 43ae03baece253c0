import { isoSeconds, nextMinute, shortTime } from '../util/time.ts';
import type { App } from './app.ts';

/** Formats the end of a wait for stderr: for a person at a terminal local, in whole minutes; otherwise ISO 8601. */
export function timeText({ context, terminal }: App, ms: number): string {
  const isForPerson = context.stderr.isTTY && !terminal.wantsJson;
  return isForPerson ? shortTime(nextMinute(ms), context.now()) : isoSeconds(ms);
}

import { toJson } from '../../util/json.ts';
import {
  every,
  type Progress,
  type ProgressContext,
  type ProgressFacts,
  type Say,
  timeLeft,
} from './progress.ts';
import { summaryFacts } from './summary.ts';

const EVENT_EVERY_MS = 1000;

/** JSON lines alone. */
export function jsonProgress(context: ProgressContext, say: Say, facts: ProgressFacts): Progress {
  const startedAt = context.now();
  const event = (name: string, rest: Record<string, unknown>): Promise<void> =>
    say(`${toJson({ event: name, ...rest }, false)}\n`);
  void event('start', { rows: facts.total ?? null });
  const ticker = every(context, EVENT_EVERY_MS, () => {
    const { matched, ambiguous, not_found, error, done } = facts.counts();
    return event('progress', {
      rows: facts.total ?? null,
      done,
      matched,
      ambiguous,
      not_found,
      errors: error,
      requests: facts.requests(),
      left_today: facts.leftToday() ?? null,
      seconds_left: seconds(timeLeft(facts, context.now() - startedAt)),
    });
  });
  return {
    waiting: ({ until, why }) => void event('waiting', { until: new Date(until).toISOString(), why }),
    warn: (text) => void event('warning', { message: text }),
    async finish(summary) {
      await ticker.stop();
      await event('summary', summaryFacts(summary));
    },
    stop: () => ticker.stop(),
  };
}

const seconds = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms / 1000));

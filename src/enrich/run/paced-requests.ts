import type { App } from '../../app/app.ts';
import type { Requests } from '../../app/service.ts';
import type { Target } from '../../app/target.ts';
import type { Ledger } from '../../storage/ledger.ts';
import { openPacer } from '../../storage/pacer.ts';
import type { Wait } from '../../storage/windows.ts';
import type { Waiting } from '../progress/progress.ts';
import type { EnrichOptions } from './options.ts';
import { type Pace, paceByBudget, paceFreely } from './pace.ts';

export interface ServiceOptions {
  readonly target: Target;
  readonly options: EnrichOptions;
  /** Ends all that is under way. */
  readonly signal: AbortSignal;
  readonly onWaiting: (waiting: Waiting) => void;
  readonly onWarning: (text: string) => void;
}

/** Lets requests go at the pace of the budget. @param ledger undefined: there is no budget */
export function pacedRequests(
  app: App,
  service: ServiceOptions,
  ledger: Ledger | undefined,
  onSent: () => void,
): Requests {
  const { options, signal, onWaiting, onWarning: warn } = service;
  const pace = ledger === undefined ? undefined : paceOf(app, service, ledger);
  return {
    signal,
    warn,
    traced: options.progress !== 'json',
    onRequest() {
      const wait = pace?.onRequest();
      if (wait === undefined) return onSent();
      return wait.then(onSent);
    },
    onRateLimited: (until) => pace?.onRateLimited(until),
    onWait: ({ ms, error }) => onWaiting({ until: app.context.now() + ms, why: error.message }),
  };
}

const WAITS: Readonly<Record<Wait['window'], string>> = {
  minute: 'the budget of a minute is spent',
  day: 'the budget of the day is spent',
  hold: 'the service asks to wait',
};

function paceOf(
  { context, settings }: App,
  { options, signal, onWaiting }: ServiceOptions,
  ledger: Ledger,
): Pace {
  const pacer = openPacer({
    ledger,
    context,
    wait: options.wait,
    maxWaitMs: settings.need('max-wait'),
    onWait: ({ freeAt, window }) => onWaiting({ until: freeAt, why: WAITS[window] }),
  });
  return options.perMinute === 0 && options.perDay === 0
    ? paceFreely(ledger, pacer, context, signal)
    : paceByBudget(ledger, pacer, signal);
}

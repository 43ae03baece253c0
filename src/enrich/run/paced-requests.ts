import type { App } from '../../app/app.ts';
import type { Requests } from '../../app/service.ts';
import type { Target } from '../../app/target.ts';
import type { Ledger, Wait } from '../../storage/ledger.ts';
import { openPacer, type Pacer } from '../../storage/pacer.ts';
import type { Waiting } from '../progress/progress.ts';
import type { EnrichOptions } from './options.ts';

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
  const pacer = ledger === undefined ? undefined : pacerOf(app, service, ledger);
  return {
    signal,
    warn,
    traced: options.progress !== 'json',
    async onRequest() {
      await pacer?.acquire(signal);
      onSent();
    },
    onRateLimited: (until) => ledger?.pauseUntil(until),
    onWait: ({ ms, error }) => onWaiting({ until: app.context.now() + ms, why: error.message }),
  };
}

const WAITS: Readonly<Record<Wait['window'], string>> = {
  minute: 'the quota of this minute is used up',
  day: 'the quota of this day is used up',
  pause: 'the service asks to wait',
};

function pacerOf({ context, settings }: App, { options, onWaiting }: ServiceOptions, ledger: Ledger): Pacer {
  return openPacer({
    ledger,
    context,
    wait: options.wait,
    maxWaitMs: settings.need('max-wait'),
    onWait: ({ freeAt, window }) => onWaiting({ until: freeAt, why: WAITS[window] }),
  });
}

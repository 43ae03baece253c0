import { type Client, openClient } from '../api/client.ts';
import type { Ledger } from '../budget/ledger.ts';
import { openPacer } from '../budget/pacer.ts';
import type { Block } from '../budget/windows.ts';
import type { App } from '../run/app.ts';
import type { Target } from '../run/target.ts';
import { traceTo } from '../run/trace.ts';
import { openSessionMemory } from '../state/sessions.ts';
import { VERSION } from '../version.ts';
import type { EnrichOptions } from './options.ts';
import { type Pace, paceByBudget, paceFreely } from './pace.ts';
import type { Waiting } from './progress.ts';

export interface ServiceOptions {
  readonly target: Target;
  readonly options: EnrichOptions;
  /** Ends all that is under way. */
  readonly signal: AbortSignal;
  readonly onWaiting: (waiting: Waiting) => void;
  readonly onWarning: (text: string) => void;
}

/** A client whose requests keep the pace of the budget. @param ledger undefined: there is no budget */
export function openPacedClient(
  app: App,
  service: ServiceOptions,
  ledger: Ledger | undefined,
  onSent: () => void,
): Client {
  const { context, settings, paths } = app;
  const { target, options, signal, onWaiting, onWarning } = service;
  const { now } = context;
  const pace = ledger === undefined ? undefined : paceOf(app, service, ledger);
  return openClient({
    endpoint: target.url,
    key: target.key,
    insecureHttp: app.globals.insecureHttp === true,
    protocol: settings.need('protocol'),
    timeoutMs: settings.need('timeout'),
    retries: settings.need('retries'),
    maxWaitMs: settings.need('max-wait'),
    version: VERSION,
    context: { ...context, signal },
    onRequest() {
      const wait = pace?.onRequest();
      if (wait === undefined) return onSent();
      return wait.then(onSent);
    },
    onRateLimited: (until) => pace?.onRateLimited(until),
    onWait: ({ ms, error }) => onWaiting({ until: now() + ms, why: error.message }),
    ...(app.verbose && options.progress !== 'json' ? { trace: traceTo(app) } : {}),
    ...(target.demo ? {} : { session: openSessionMemory(paths.stateDir, target.url.href, onWarning) }),
  });
}

const WAITS: Readonly<Record<Block['window'], string>> = {
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

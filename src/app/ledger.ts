import { type Ledger, type LedgerOptions, openLedger } from '../storage/ledger.ts';
import type { App } from './app.ts';
import type { Target } from './target.ts';

/** The count of the requests to a service. */
export function ledgerOf(
  { paths, context }: App,
  { url, key }: Pick<Target, 'url' | 'key'>,
  { perMinute, perDay }: Pick<LedgerOptions, 'perMinute' | 'perDay'>,
  warn?: (text: string) => void,
): Ledger {
  return openLedger({
    stateDir: paths.stateDir,
    key,
    endpoint: url.href,
    now: context.now,
    perMinute,
    perDay,
    ...(warn === undefined ? {} : { warn }),
  });
}

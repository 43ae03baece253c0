import { assertMayCarryKey } from '../api/endpoint.ts';
import { type Ledger, openLedger } from '../budget/ledger.ts';
import type { App } from '../run/app.ts';
import { configuredEndpoint, configuredKey, needEndpoint, needKey } from '../run/target.ts';
import { type Known, nothingKnown, openKnown } from './known.ts';
import type { EnrichOptions } from './options.ts';

/** Which service a list is about, and with which key. */
export interface Target {
  readonly url: URL;
  readonly key: string;
  /** The sandbox in this process: nothing is counted and nothing kept. */
  readonly demo: boolean;
}

/**
 * The service of this run. With `--demo` it is started.
 * @throws {AppError} `no_service`, `no_key`, …
 */
export async function needTarget(app: App): Promise<Target> {
  if (app.globals.demo === true) {
    const { startSandbox } = await import('../sandbox/server.ts');
    const sandbox = await startSandbox({ perMinute: 0, perDay: 0 });
    app.onClose(() => sandbox.close());
    return { url: new URL(sandbox.endpoint), key: sandbox.keys.paid, demo: true };
  }
  const { url } = needEndpoint(app);
  const key = needKey(app, url).value;
  assertMayCarryKey(url, app.globals.insecureHttp === true);
  return { url, key, demo: false };
}

/** The service of this run as far as it is set: for an estimate, which sends nothing. */
export function knownTarget(app: App): Target | undefined {
  if (app.globals.demo === true) return undefined;
  const url = configuredEndpoint(app)?.url;
  const key = url === undefined ? undefined : configuredKey(app, url)?.value;
  return url === undefined || key === undefined ? undefined : { url, key, demo: false };
}

/** The count of the requests to a service. */
export function ledgerOf(
  { paths, context }: App,
  { url, key }: Target,
  { perMinute, perDay }: Pick<EnrichOptions, 'perMinute' | 'perDay'>,
  warn?: (text: string) => void,
): Ledger {
  const { stateDir } = paths;
  return openLedger({
    stateDir,
    key,
    endpoint: url.href,
    now: context.now,
    perMinute,
    perDay,
    ...(warn === undefined ? {} : { warn }),
  });
}

/** What was answered before, at most so old. */
export function knownOf(
  { paths, context }: App,
  { url, key, demo }: Target,
  maxAgeMs: number,
  thrifty: boolean,
): Known {
  if (demo) return nothingKnown;
  const { cacheDir } = paths;
  return openKnown({ cacheDir, now: context.now, endpoint: url.href, key, maxAgeMs, thrifty });
}

import type { App } from '../../app/app.ts';
import { configuredEndpoint, configuredKey, type Target } from '../../app/target.ts';
import { type Age, type Known, nothingKnown, openKnown } from './known.ts';

/** The service of this run as far as it is set: for an estimate, which sends nothing. */
export function knownTarget(app: App): Target | undefined {
  if (app.globals.demo === true) return undefined;
  const url = configuredEndpoint(app)?.url;
  const key = url === undefined ? undefined : configuredKey(app, url)?.value;
  return url === undefined || key === undefined ? undefined : { url, key, demo: false };
}

/** What was answered before. */
export function knownOf(
  { paths, context }: App,
  { url, key, demo }: Target,
  age: Age,
  thrifty: boolean,
): Known {
  if (demo) return nothingKnown;
  const { cacheDir } = paths;
  return openKnown({ cacheDir, now: context.now, endpoint: url.href, key, ...age, thrifty });
}

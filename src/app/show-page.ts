import type { App } from './app.ts';
import { missingBrowserReason, startBrowser } from './opener.ts';
import { servePage } from './serve-page.ts';

/** Longest time that a browser may take to ask for the page, in milliseconds. */
const PATIENCE_MS = 20_000;

/**
 * Shows a page that stands in a file in the browser. Where that cannot be, it says why and fails nothing: the file
 * is there.
 */
export async function showPage(app: App, path: string): Promise<void> {
  const why = app.canOpenBrowser
    ? (missingBrowserReason(app.context) ?? (await tryToShow(app, path)))
    : undefined;
  if (!app.canOpenBrowser) await app.note('not shown in the browser: --no-input or CI is set');
  else if (why !== undefined) await app.warn(`the page cannot be shown: ${why}`);
  else await app.note('shown in the browser');
}

/** @returns why it was not shown; undefined where it was */
async function tryToShow(app: App, path: string): Promise<string | undefined> {
  const { context } = app;
  const page = await servePage(path).catch(() => undefined);
  if (page === undefined) return 'no port of this machine can be opened';
  const patience = new AbortController();
  const onEnd = (): void => patience.abort(context.signal.reason);
  context.signal.addEventListener('abort', onEnd, { once: true });
  try {
    return await Promise.race([
      page.fetched,
      startBrowser(context, page.url),
      context
        .sleep(PATIENCE_MS, patience.signal)
        .then(() => `no browser asked for it in ${PATIENCE_MS / 1000} seconds`),
    ]);
  } finally {
    context.signal.removeEventListener('abort', onEnd);
    patience.abort();
    page.close();
  }
}

import type { PlannedCall } from '../client/types.ts';
import { usage } from '../errors.ts';
import { again, restaurant } from '../hint.ts';
import { exactJson, formatJson } from '../util/json.ts';
import { isPreview, requireEndpoint } from './address.ts';
import type { App } from './app.ts';
import { configuredKey, requestHeaders, traceContextOf } from './credentials.ts';
import { writeOutput, writesToTerminal } from './output-file.ts';
import type { Service, ServiceOptions } from './service.ts';
import { clientSettings } from './target.ts';

/**
 * Opens the service for a command whose line and output were checked: usage errors are found before a request is sent.
 * @returns undefined if a preview of the calls was printed
 */
export async function previewOrOpen(
  app: App,
  preview: () => readonly PlannedCall[] | Promise<readonly PlannedCall[]>,
  options: ServiceOptions = {},
): Promise<Service | undefined> {
  if (isPreview(app)) {
    await printPreview(app, await preview());
    return undefined;
  }
  const { openService } = await import('./service.ts');
  return openService(app, options);
}

/** The address of `restaurant sandbox` without options. */
const SANDBOX = 'http://127.0.0.1:4010';

async function printPreview(app: App, calls: readonly PlannedCall[]): Promise<void> {
  if (app.globals.demo === true) {
    throw usage('--demo has no URL to show', [
      { text: 'serve the same data', command: restaurant('sandbox') },
      { text: 'then', command: again({ '--base-url': SANDBOX }, { without: ['--demo'] }) },
    ]);
  }
  const { curlCommand, previewRequest } = await import('../client/preview.ts');
  const { protocol } = clientSettings(app);
  const { url: endpoint } = requireEndpoint(app);
  const found = configuredKey(app, endpoint);
  // The key command is not run for a preview.
  const key = found && (found.value ?? '…');
  const headers = requestHeaders(app, endpoint);
  const traceContext = traceContextOf(app.context.env);
  const previews = calls.map((call, index) =>
    previewRequest({ endpoint, key, id: index + 1, headers, traceContext, protocol, ...call }),
  );
  if (app.globals.curl === true) {
    return writeOutput(app, previews.map((preview) => `${curlCommand(preview)}\n`).join(''));
  }
  const json = previews.length === 1 ? previews[0] : previews;
  await writeOutput(app, `${formatJson(exactJson(json), writesToTerminal(app))}\n`);
}

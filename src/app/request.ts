import type { PlannedCall } from '../client/types.ts';
import { usage } from '../errors.ts';
import { again, restaurant } from '../hint.ts';
import type { OutputKind } from '../output/formats.ts';
import { toJson } from '../util/json.ts';
import { requireEndpoint } from './address.ts';
import { configuredKey } from './api-key.ts';
import type { App } from './app.ts';
import { checkOutput } from './output.ts';
import { writeOutput, writesToTerminal } from './output-file.ts';
import { requestHeaders, traceContextOf } from './request-headers.ts';
import type { Service, ServiceOptions } from './service.ts';
import { clientSettings } from './target.ts';

export const isPreview = ({ globals }: App): boolean => globals.dryRun === true || globals.curl === true;

export interface ServiceCommand<Plan, Result> {
  /** Documented columns of the results; a misspelling of one in `--columns` is refused. */
  readonly columns?: readonly string[];
  /** The kind of its output, which decides the formats that it can have. Default: `records`. */
  readonly output?: OutputKind;
  readonly service?: ServiceOptions;
  /** Parses and checks the arguments. All usage errors are found here. */
  plan(): Plan | Promise<Plan>;
  preview(plan: Plan): readonly PlannedCall[] | Promise<readonly PlannedCall[]>;
  send(service: Service, plan: Plan): Promise<Result>;
  write(result: Result, plan: Plan): Promise<void>;
}

/**
 * Runs a command that calls the service: checks the whole command line, then either prints a preview, or sends the
 * request and writes the result. Usage errors are always found before a request is sent.
 */
export async function runServiceCommand<Plan, Result>(
  app: App,
  command: ServiceCommand<Plan, Result>,
): Promise<void> {
  await checkOutput(app, command.output ?? 'records', command.columns);
  const plan = await command.plan();
  const service = await requestService(app, () => command.preview(plan), command.service);
  if (service !== undefined) await command.write(await command.send(service, plan), plan);
}

/** Opens the service for a command whose line was checked. @returns undefined if a preview of the calls was printed */
export async function requestService(
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
  const key = found && (found.value ?? '****');
  const headers = requestHeaders(app, endpoint);
  const traceContext = traceContextOf(app.context.env);
  const previews = calls.map((call, index) =>
    previewRequest({ endpoint, key, id: index + 1, headers, traceContext, protocol, ...call }),
  );
  if (app.globals.curl === true) {
    return writeOutput(app, previews.map((preview) => `${curlCommand(preview)}\n`).join(''));
  }
  const json = previews.length === 1 ? previews[0] : previews;
  await writeOutput(app, `${toJson(json, writesToTerminal(app))}\n`);
}

import type { App } from '../app/app.ts';
import { checkOutput, outputFormat, writeResult } from '../app/output.ts';
import { previewOrOpen } from '../app/request.ts';
import type { CliCommand } from '../cli/command.ts';
import type { CallOptions } from '../client/restaurant.ts';
import { toolCall } from '../client/tools.ts';
import { usage } from '../errors.ts';
import { restaurant } from '../hint.ts';
import type { JsonObject } from '../util/json.ts';

export function registerCall(command: CliCommand, app: App): void {
  command
    .about('Call a tool')
    .argument('<tool>', 'Tool name, as listed by restaurant tools')
    .argument('[key=value...]', 'Argument: key=text, key:=json, or key=@file (key=@@text for a literal @)')
    .option('--args <json>', 'All arguments as JSON, @file, or - for stdin')
    .completeWith('tool', 'tool')
    .completeWith('key=value', 'at-file')
    .completeWith('--args', 'at-file')
    .usesOptions('service', 'request', 'cache', 'offline', 'preview', 'json', 'records', 'file')
    .overrideOption('--max-age', { default: '0' })
    .outputSchema({ description: 'the output of the tool: any JSON value' })
    .examples(
      'restaurant call find_restaurant name=Nopa city=SF --demo',
      'restaurant call explore_area city=SF neighborhood=NoPa --demo',
      `restaurant call find_restaurant --args '{"name":"Nopa","city":"SF"}' --demo`,
    )
    .notes(
      "Values are converted to the types in the tool's schema and validated before the request is sent. " +
        'With --json, prints structuredContent if present, else the text block, parsed if it is JSON.',
    )
    .action((tool: string, words: string[], { args }: { args?: string }) => runCall(app, tool, words, args));
}

async function runCall(app: App, name: string, words: string[], json: string | undefined): Promise<void> {
  const { readArguments } = await import('./call/arguments.ts');
  const { prepareCall, unlistedToolError } = await import('./call/prepare.ts');
  await checkOutput(app, 'records');
  if (name.trim() === '') throw usage('the tool name is empty', { command: restaurant('tools') });
  const inputs = await readArguments(app, name, words, json);
  const preview = async () => [toolCall(name, (await prepareCall(app, undefined, name, inputs)).args)];
  const service = await previewOrOpen(app, preview, { demoMode: 'mcp' });
  if (service === undefined) return;
  const { tool, args } = await prepareCall(app, service, name, inputs);
  const { notes, terminal } = app;
  // A service responds with a stream if progress is requested, so request it only if it is shown.
  const onProgress = (params: JsonObject): void => notes.updateSpinner(progressLabel(name, params));
  const options: CallOptions = { tool, ...(terminal.canRepaint && { onProgress }) };
  const call = service.callAny({
    name: `call ${name}`,
    args,
    send: (client, output) => client.callTool(name, args, { ...options, ...output }),
  });
  const { value: result, text: received } = await notes
    .withSpinner(name, call)
    .catch((error: unknown) => Promise.reject(unlistedToolError(error, name, tool)));
  const { callData, callPresentation, isTruncated } = await import('../output/render/call.ts');
  const data = callData(result, received);
  await writeResult(app, data.json, async () => callPresentation(result, data.json), data.text);
  if (outputFormat(app) === 'table' && isTruncated(result)) {
    await app.notes.note('values in brackets are summaries; --json prints the full response');
  }
}

/** The label of a spinner while a tool reports its progress (MCP). */
export function progressLabel(label: string, { progress, total, message }: Readonly<JsonObject>): string {
  // The line is cut to the width of the terminal later.
  if (typeof message === 'string' && message.trim() !== '') return `${label}: ${message.slice(0, 500)}`;
  const percent = Math.floor((100 * Number(progress)) / Number(total));
  return percent >= 0 && percent <= 100 ? `${label} ${percent} %` : label;
}

import { raw } from 'jq-wasm';
import { AppError } from '../errors.ts';
import { parseExact } from '../util/exact-json.ts';
import { toJson } from '../util/json.ts';
import { cleanCell, cleanLine } from '../util/text.ts';

/** Checks the syntax of a filter. @throws {AppError} `usage` with jq's message */
export async function checkFilter(filter: string): Promise<void> {
  // Without input, a filter is compiled but not run.
  await runJq('', filter);
}

/**
 * Runs a jq filter on a JSON document. Numbers keep every digit.
 * @param json the document as JSON text
 * @returns each output on its own line: strings as cleaned text, anything else as JSON
 * @throws {AppError} `usage` with jq's message if the filter fails on this document
 */
export async function applyFilter(filter: string, json: string, pretty: boolean): Promise<string> {
  const outputs = (await runJq(json, filter)).split('\n').filter((line) => line !== '');
  return outputs.map((output) => `${outputText(output, pretty)}\n`).join('');
}

function outputText(output: string, pretty: boolean): string {
  if (!/^["[{]/.test(output)) return output;
  const value = parseExact(output);
  return typeof value === 'string' ? cleanCell(value) : toJson(value, pretty);
}

async function runJq(input: string, filter: string): Promise<string> {
  try {
    // The space prevents a filter that starts with a hyphen from being parsed as an option.
    return await raw(input, ` ${filter}`, ['-c']);
  } catch (error) {
    const [, message = 'the filter failed'] =
      /jq: (?:error(?: \([^)]*\))?: )?([^\n]*)/.exec(String(error)) ?? [];
    throw new AppError('usage', `--jq '${cleanLine(filter)}': ${cleanLine(message).trim()}`, {
      hint: "restaurant … --jq '.results[].name'; the language: https://jqlang.org/manual",
    });
  }
}

import { stringifyRawNumbers } from '../../util/exact-json.ts';
import { toJson } from '../../util/json.ts';
import { shellWord } from '../../util/shell.ts';
import { cleanLine } from '../../util/text.ts';
import { isRecord } from '../records.ts';

/** An argument of a tool, from its JSON Schema. */
export interface Argument {
  readonly name: string;
  readonly required: boolean;
  readonly type: string;
  readonly description: string;
  /** `enum`, or the one `const`. */
  readonly allowed: readonly string[];
  readonly fallback: string | undefined;
  /** An example value, as `restaurant call` takes it. */
  readonly sample: string;
  /** Whether the sample is JSON (`key:=json`). */
  readonly typed: boolean;
}

/** Returns the arguments of a tool's `inputSchema`, required ones first. Unknown parts of the schema are ignored. */
export function argumentsOf(schema: unknown): Argument[] {
  if (!isRecord(schema) || !isRecord(schema.properties)) return [];
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  const all = Object.entries(stringifyRawNumbers(schema.properties)).map(([name, about]) =>
    argument(name, isRecord(about) ? about : {}, required.has(name)),
  );
  return [...all.filter((one) => one.required), ...all.filter((one) => !one.required)];
}

function argument(name: string, about: Record<string, unknown>, required: boolean): Argument {
  const allowed = Array.isArray(about.enum) ? about.enum : 'const' in about ? [about.const] : [];
  const type = typeOf(about);
  const sample = sampleOf(about, allowed, type);
  return {
    name: cleanLine(name),
    required,
    type,
    description: typeof about.description === 'string' ? cleanLine(about.description).trim() : '',
    allowed: allowed.map(valueText),
    fallback: 'default' in about ? valueText(about.default) : undefined,
    sample: typeof sample === 'string' ? cleanLine(sample) : toJson(sample, false),
    typed: typeof sample === 'object' && sample !== null,
  };
}

function typeOf(about: Record<string, unknown>, level = 0): string {
  const { type, items } = about;
  const choices = [about.anyOf, about.oneOf].find(Array.isArray);
  if (Array.isArray(type)) return type.map(String).join(' or ');
  if (type === 'array' && isRecord(items) && level < 2) return `array of ${typeOf(items, level + 1)}`;
  if (typeof type === 'string') return cleanLine(type);
  if (choices !== undefined && level < 2) {
    return [...new Set(choices.filter(isRecord).map((choice) => typeOf(choice, level + 1)))].join(' or ');
  }
  return 'any';
}

function sampleOf(about: Record<string, unknown>, allowed: readonly unknown[], type: string): unknown {
  const examples = Array.isArray(about.examples) ? about.examples : [];
  const given = [about.default, ...examples, ...allowed].find(
    (value) => value !== undefined && value !== null,
  );
  if (given !== undefined) return given;
  if (type.startsWith('array')) return [];
  if (type.startsWith('object')) return {};
  if (type.startsWith('integer') || type.startsWith('number'))
    return typeof about.minimum === 'number' ? about.minimum : 1;
  return type.startsWith('boolean') ? true : '...';
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? cleanLine(value) : toJson(value, false);
}

/** Returns a command line that calls the tool with its required arguments, quoted for a POSIX shell. */
export function exampleCall(tool: string, args: readonly Argument[]): string {
  const words = args
    .filter(({ required }) => required)
    // A value that starts with @ would be read from a file.
    .map(
      ({ name, sample, typed }) =>
        `${name}${typed ? ':=' : '='}${sample.startsWith('@') ? '@' : ''}${sample}`,
    );
  return ['restaurant call', ...[cleanLine(tool), ...words].map(shellWord)].join(' ');
}

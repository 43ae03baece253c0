import type { Tool } from '../../client/types.ts';
import { restaurant } from '../../hint.ts';
import { isObject, type JsonObject, toJson } from '../../util/json.ts';
import { clean, cleanLine, wrap } from '../../util/text.ts';
import { separate } from '../data.ts';
import { commandText } from '../hint-text.ts';
import type { Presentation } from '../presentation.ts';
import { pick } from '../records.ts';
import type { View } from '../style.ts';
import { type Column, renderRecords, renderTable } from '../table.ts';

interface Argument {
  readonly name: string;
  readonly required: boolean;
  readonly type: string;
  readonly description: string;
  /** `enum`, or the one `const`. */
  readonly allowed: readonly string[];
  readonly fallback: string | undefined;
  readonly sample: unknown;
}

function argumentsOf({ inputSchema }: Tool): Argument[] {
  if (!isObject(inputSchema) || !isObject(inputSchema.properties)) return [];
  const required = new Set(Array.isArray(inputSchema.required) ? inputSchema.required : []);
  return Object.entries(inputSchema.properties)
    .map(([name, schema]) => argument(name, isObject(schema) ? schema : {}, required.has(name)))
    .sort((one, other) => Number(other.required) - Number(one.required));
}

function argument(name: string, schema: JsonObject, required: boolean): Argument {
  const fixed = 'const' in schema ? [schema.const] : [];
  const allowed = Array.isArray(schema.enum) ? schema.enum : fixed;
  const examples = Array.isArray(schema.examples) ? schema.examples : [];
  const type = typeOf(schema);
  return {
    name: cleanLine(name),
    required,
    type,
    description: cleanLine(text(schema.description)).trim(),
    allowed: allowed.map(valueText),
    fallback: 'default' in schema ? valueText(schema.default) : undefined,
    sample:
      [schema.default, ...examples, ...allowed].find((value) => value != null) ?? sampleOf(type, schema),
  };
}

function typeOf({ type, items, anyOf, oneOf }: JsonObject, level = 0): string {
  const choices = [anyOf, oneOf].find(Array.isArray);
  if (Array.isArray(type)) return type.map(String).join(' or ');
  if (type === 'array' && isObject(items) && level < 2) return `array of ${typeOf(items, level + 1)}`;
  if (typeof type === 'string') return cleanLine(type);
  if (choices === undefined || level >= 2) return 'any';
  return [...new Set(choices.filter(isObject).map((choice) => typeOf(choice, level + 1)))].join(' or ');
}

function sampleOf(type: string, { minimum }: JsonObject): unknown {
  if (type.startsWith('array')) return [];
  if (type.startsWith('object')) return {};
  if (/^(?:integer|number)/.test(type)) return typeof minimum === 'number' ? minimum : 1;
  return type.startsWith('boolean') ? true : '...';
}

function valueText(value: unknown): string {
  return typeof value === 'string' ? cleanLine(value) : toJson(value, false);
}

function exampleCall(tool: string, args: readonly Argument[], platform: NodeJS.Platform): string {
  const words = args
    .filter(({ required }) => required)
    .map(({ name, sample }) => {
      const value = valueText(sample);
      if (typeof sample === 'object') return `${name}:=${value}`;
      // A value that starts with @ would be read from a file.
      return `${name}=${value.startsWith('@') ? '@' : ''}${value}`;
    });
  return commandText(restaurant('call', cleanLine(tool), ...words), { platform });
}

const TOOL_COLUMNS: readonly Column[] = [
  { key: 'name', title: 'name', min: 16, max: 48, priority: 3, paint: 'name' },
  { key: 'arguments', title: 'arguments', min: 12, max: 60, priority: 2, maxLines: 3 },
  { key: 'description', title: 'description', min: 24, max: 88, priority: 1, maxLines: 3, paint: 'dim' },
];

/** No column is dropped: if they do not fit, arguments are listed below each other. */
const ALWAYS = Number.POSITIVE_INFINITY;
const ARGUMENT_COLUMNS: readonly Column[] = [
  { key: 'name', title: 'argument', min: 10, max: 40, priority: ALWAYS, paint: 'code' },
  { key: 'type', title: 'type', min: 7, max: 24, priority: ALWAYS },
  { key: 'required', title: 'required', priority: ALWAYS },
  {
    key: 'description',
    title: 'description',
    min: 20,
    max: 88,
    priority: ALWAYS,
    maxLines: ALWAYS,
  },
];

const MAX_TEXT_WIDTH = 88;

export function renderTools(tools: readonly Tool[], view: View): string {
  const rows = tools.map((tool) => {
    const words = argumentsOf(tool).map(({ name, required }) => (required ? `<${name}>` : `[${name}]`));
    return [text(tool.name), words.join(' '), firstParagraph(text(tool.description) || text(tool.title))];
  });
  return renderTable(TOOL_COLUMNS, rows, view);
}

export function renderTool(tool: Tool, view: View, platform: NodeJS.Platform = 'linux'): string {
  const { palette } = view;
  const args = argumentsOf(tool);
  const title = cleanLine(text(tool.title));
  const description = clean(text(tool.description)).trim();
  const rows = args.map((each) => [
    each.name,
    each.type,
    each.required ? 'yes' : 'no',
    describeArgument(each),
  ]);
  const example = wrap(`$ ${exampleCall(text(tool.name), args, platform)}`, view.width - 4);
  return separate([
    [
      ...wrap(cleanLine(text(tool.name)), view.width).map(palette.name),
      ...(title === '' ? [] : wrap(title, view.width).map(palette.dim)),
    ],
    description === '' ? [] : wrap(description, Math.min(view.width, MAX_TEXT_WIDTH)),
    args.length === 0
      ? wrap('It takes no arguments.', view.width).map(palette.dim)
      : [renderTable(ARGUMENT_COLUMNS, rows, view)],
    [example.map(palette.code).join(' \\\n  ')],
  ]).join('\n');
}

function describeArgument({ description, allowed, fallback }: Argument): string {
  const sentence = description === '' || /[.!?:]$/.test(description) ? description : `${description}.`;
  return [
    sentence,
    allowed.length === 0 ? '' : `One of: ${allowed.join(', ')}.`,
    fallback === undefined ? '' : `Default: ${fallback}.`,
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function firstParagraph(description: string): string {
  return description.trim().split(/\n\s*\n/)[0] ?? '';
}

export function toolsPresentation(tools: readonly Tool[]): Presentation {
  return {
    records: tools,
    columns: ['name', 'title', 'description'],
    selectColumns: (columns) => ({ tools: tools.map((tool) => pick(tool, columns)) }),
    table: (view, columns) =>
      columns === undefined ? renderTools(tools, view) : renderRecords(tools, columns, view),
  };
}

/** Presents one tool. CSV and TSV list its arguments. */
export function toolPresentation(tool: Tool, platform?: NodeJS.Platform): Presentation {
  return {
    records: [tool],
    rows: argumentsOf(tool).map(({ name, type, required, description, allowed, fallback }) => ({
      argument: name,
      type,
      required,
      description,
      allowed,
      default: fallback,
    })),
    columns: ['argument', 'type', 'required', 'description', 'allowed', 'default'],
    selectColumns: (columns) => pick(tool, columns),
    table: (view, columns) =>
      columns === undefined ? renderTool(tool, view, platform) : renderRecords([tool], columns, view),
  };
}

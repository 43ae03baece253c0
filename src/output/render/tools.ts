import type { Tool } from '../../client/types.ts';
import { clean, cleanLine, wrap } from '../../util/text.ts';
import type { Presentation, View } from '../presentation.ts';
import { pick } from '../records.ts';
import { type Column, renderRecords, renderTable } from '../table.ts';
import { type Argument, argumentsOf, exampleCall } from './arguments.ts';

const TOOL_COLUMNS: readonly Column[] = [
  { key: 'name', title: 'name', min: 16, max: 48, priority: 3, paint: 'name' },
  { key: 'arguments', title: 'arguments', min: 12, max: 60, priority: 2, wrap: true },
  { key: 'description', title: 'description', min: 24, max: 88, priority: 1, wrap: true, paint: 'dim' },
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
    wrap: true,
    maxLines: ALWAYS,
  },
];

const MAX_TEXT_WIDTH = 88;

/** Renders tools with their arguments, `<required>` and `[optional]`, without a final line break. */
export function renderTools(tools: readonly Tool[], view: View): string {
  const rows = tools.map((tool) => {
    const words = argumentsOf(tool.inputSchema).map(({ name, required }) =>
      required ? `<${name}>` : `[${name}]`,
    );
    return [text(tool.name), words.join(' '), firstParagraph(text(tool.description) || text(tool.title))];
  });
  return renderTable(TOOL_COLUMNS, rows, view);
}

/** Renders a tool: description, arguments, and an example call, without a final line break. */
export function renderTool(tool: Tool, view: View): string {
  const { palette } = view;
  const args = argumentsOf(tool.inputSchema);
  const title = text(tool.title);
  const head = [
    ...wrap(cleanLine(text(tool.name)), view.width).map(palette.name),
    ...(title === '' ? [] : wrap(cleanLine(title), view.width).map(palette.dim)),
  ];
  const description = clean(text(tool.description)).trim();
  const rows = args.map((argument) => [
    argument.name,
    argument.type,
    argument.required ? 'yes' : 'no',
    aboutArgument(argument),
  ]);
  const example = wrap(`$ ${exampleCall(text(tool.name), args)}`, view.width - 4);
  return [
    head.join('\n'),
    description === '' ? '' : wrap(description, Math.min(view.width, MAX_TEXT_WIDTH)).join('\n'),
    args.length === 0
      ? wrap('It takes no arguments.', view.width).map(palette.dim).join('\n')
      : renderTable(ARGUMENT_COLUMNS, rows, view),
    example.map(palette.code).join(' \\\n  '),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function aboutArgument({ description, allowed, fallback }: Argument): string {
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

/** Presents all tools. */
export function toolsPresentation(tools: readonly Tool[]): Presentation {
  return {
    json: { tools },
    records: tools,
    columns: ['name', 'title', 'description'],
    selectColumns: (columns) => ({ tools: tools.map((tool) => pick(tool, columns)) }),
    table: (view, columns) =>
      columns === undefined ? renderTools(tools, view) : renderRecords(tools, columns, view),
  };
}

/** Presents one tool. CSV and TSV list its arguments. */
export function toolPresentation(tool: Tool): Presentation {
  return {
    json: tool,
    records: [tool],
    rows: argumentsOf(tool.inputSchema).map(({ name, type, required, description, allowed, fallback }) => ({
      argument: name,
      type,
      required,
      description,
      allowed,
      default: fallback,
    })),
    columns: ['argument', 'type', 'required', 'description', 'allowed', 'default'],
    table: (view, columns) =>
      columns === undefined ? renderTool(tool, view) : renderRecords([tool], columns, view),
  };
}

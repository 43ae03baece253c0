import type { Tool, ToolResult } from '../client/types.ts';
import { exploreArea } from './area.ts';
import type { Catalog } from './match.ts';
import { badArgument, INVALID_PARAMS, isObject, RpcError, type RpcObject } from './rpc.ts';
import { callTool, createTools, outputResult, type ToolFunction } from './tools.ts';

/**
 * What an MCP server does with tools, in either era. Both throw an RpcError -32602 for wrong params; wrong arguments of
 * a tool are a failure of the tool (MCP 2025-11-25, error handling), so that a model can mend them.
 */
export interface McpTools {
  /** The result of `tools/list`. Cursors are opaque to the caller. */
  list(params: unknown): RpcObject;
  call(params: unknown, paid: boolean): ToolResult;
}

/** The documented tools, and `explore_area`. `pageSize` is how many a page of the list holds. */
export function createMcpTools(catalog: Catalog, pageSize: number = TOOLS.length): McpTools {
  const tools = createTools(catalog).set('explore_area', (args) => exploreArea(catalog, args));
  const told = new Map([...tools].map(([name, tool]) => [name, telling(tool)]));
  return {
    list: (params) => listTools(params, pageSize),
    call: (params, paid) => callTool(told, withArguments(params), paid),
  };
}

/** `arguments` may be left out. */
function withArguments(params: unknown): unknown {
  return isObject(params) && params.arguments === undefined ? { ...params, arguments: {} } : params;
}

/** The tool, telling of wrong arguments in its result. */
function telling(tool: ToolFunction): ToolFunction {
  return (args, paid) => {
    try {
      return tool(args, paid);
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== INVALID_PARAMS) throw error;
      return outputResult({ status: 'invalid_arguments', message: error.message }, true);
    }
  };
}

const READ_ONLY = { readOnlyHint: true, openWorldHint: false };
const text = (description: string) => ({ type: 'string', minLength: 1, description });
const counted = (key: string) => ({
  type: 'array',
  items: {
    type: 'object',
    properties: { [key]: { type: 'string' }, count: { type: 'integer' } },
    required: [key, 'count'],
  },
});

/** The tools as `tools/list` gives them. The schemas are JSON Schema 2020-12. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'find_restaurant',
    title: 'Find a restaurant',
    description: 'Search restaurants by name in a city. Returns matches with id, address, cuisine and grade.',
    inputSchema: {
      type: 'object',
      properties: { name: text('Restaurant name, or a part of it'), city: text('City to search in') },
      required: ['name', 'city'],
    },
    annotations: READ_ONLY,
  },
  {
    name: 'lookup_restaurant',
    title: 'Look up a restaurant',
    description: 'Details of one restaurant. The levels standard and premium need a paid key.',
    inputSchema: {
      type: 'object',
      properties: {
        restaurant_id: text('The service_id of a restaurant from find_restaurant'),
        fields: {
          type: 'string',
          enum: ['standard', 'premium'],
          description: 'Level of detail; left out, the basic level is returned',
        },
      },
      required: ['restaurant_id'],
    },
    annotations: READ_ONLY,
  },
  {
    name: 'explore_area',
    title: 'Explore an area',
    description:
      'The dining scene of a city or one of its neighborhoods: counts, cuisines, grades, the best places.',
    inputSchema: {
      type: 'object',
      properties: {
        city: { ...text('City to look at'), 'x-mcp-header': 'City' },
        neighborhood: { type: 'string', description: 'Only this neighborhood' },
      },
      required: ['city'],
    },
    outputSchema: {
      type: 'object',
      properties: {
        status: { type: 'string' },
        city: { type: 'string' },
        neighborhood: { type: ['string', 'null'] },
        total: { type: 'integer' },
        cuisines: counted('cuisine'),
        grades: counted('grade'),
        neighborhoods: counted('neighborhood'),
        top: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              service_id: { type: 'string' },
              name: { type: 'string' },
              grade: { type: ['string', 'null'] },
              neighborhood: { type: ['string', 'null'] },
            },
            required: ['service_id', 'name', 'grade', 'neighborhood'],
          },
        },
      },
      required: ['status', 'city', 'neighborhood', 'total', 'cuisines', 'grades', 'neighborhoods', 'top'],
    },
    annotations: READ_ONLY,
  },
];

function listTools(params: unknown, pageSize: number): RpcObject {
  const cursor = isObject(params) ? params.cursor : undefined;
  const from = cursor === undefined ? 0 : TOOLS.findIndex((tool) => cursorOf(tool) === cursor);
  if (from < 0) throw badArgument('cursor', 'is unknown');
  const page = TOOLS.slice(from, from + pageSize);
  const next = TOOLS[from + pageSize];
  return { tools: page, ...(next && { nextCursor: cursorOf(next) }) };
}

function cursorOf({ name }: Tool): string {
  return Buffer.from(`from ${name}`).toString('base64url');
}

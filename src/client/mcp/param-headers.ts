import { isObject, type JsonObject } from '../../util/json.ts';
import { headerValue, isHeaderName } from '../http/headers.ts';
import type { Tool } from '../types.ts';

export const ANNOTATION = 'x-mcp-header';
/** Keywords of a schema that contain data, not schemas. */
const DATA = ['default', 'const', 'enum', 'examples'];

export interface ParamHeader {
  readonly path: readonly string[];
  /** The part of the header name after `Mcp-Param-`. */
  readonly name: string;
}

/** MCP 2026-07-28, custom headers from tool parameters. @returns undefined if an annotation is invalid */
export function paramHeaders(tool: Tool): readonly ParamHeader[] | undefined {
  const headers = [...annotations(tool.inputSchema ?? {}, [])];
  const names = new Set(headers.map((header) => header?.name.toLowerCase()));
  return names.size === headers.length && !names.has(undefined) ? (headers as ParamHeader[]) : undefined;
}

/** @param path undefined if the schema is not reached through `properties` alone */
function* annotations(schema: unknown, path: Path): Generator<ParamHeader | undefined> {
  if (isObject(schema) && Object.hasOwn(schema, ANNOTATION)) yield annotation(schema, path);
  for (const [each, itsPath] of subschemas(schema, path)) yield* annotations(each, itsPath);
}

type Path = readonly string[] | undefined;

function annotation({ [ANNOTATION]: name, type }: JsonObject, path: Path): ParamHeader | undefined {
  const types = [type].flat().filter((each) => each !== 'null');
  const isScalar = types.length === 1 && ['string', 'integer', 'boolean'].includes(String(types[0]));
  return path?.length && isHeaderName(name) && isScalar ? { path, name } : undefined;
}

function subschemas(schema: unknown, path: Path): readonly (readonly [unknown, Path])[] {
  if (Array.isArray(schema)) return schema.map((each) => [each, undefined]);
  if (!isObject(schema)) return [];
  const { properties, ...rest } = schema;
  const keywords = Object.entries(rest).filter(([key]) => !DATA.includes(key));
  const others = keywords.map(([, value]) => [value, undefined] as const);
  if (!isObject(properties)) return [[properties, undefined], ...others];
  const members = Object.entries(properties).map(([name, each]) => [each, path && [...path, name]] as const);
  return [...members, ...others];
}

/** Returns the headers for the arguments of a call. Null and missing arguments have no header. */
export function headersOf(headers: readonly ParamHeader[], args: unknown): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const { path, name } of headers) {
    const value = path.reduce<unknown>(
      (parent, key) => (isObject(parent) && Object.hasOwn(parent, key) ? parent[key] : undefined),
      args,
    );
    const isNumber = typeof value === 'bigint' || Number.isInteger(value);
    if (isNumber || typeof value === 'string' || typeof value === 'boolean') {
      fields[`Mcp-Param-${name}`] = headerValue(String(isNumber ? BigInt(value as number) : value));
    }
  }
  return fields;
}

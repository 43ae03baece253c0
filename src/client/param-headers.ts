import { headerValue } from './header-value.ts';
import { isObject, type JsonObject } from './rpc.ts';
import type { Tool } from './types.ts';

const ANNOTATION = 'x-mcp-header';
/** Members of a schema that hold data, not schemas. */
const DATA = ['default', 'const', 'enum', 'examples'];

/** A tool parameter that also travels as a header. */
export interface ParamHeader {
  /** Keys that lead to the parameter. */
  readonly path: readonly string[];
  /** What follows `Mcp-Param-`. */
  readonly name: string;
}

/**
 * The parameters that a tool wants as headers (MCP 2026-07-28, custom headers from tool parameters).
 * @returns them, or `bad` with the reason for which the tool must not be used
 */
export function paramHeaders(tool: Tool): { headers: ParamHeader[] } | { bad: string } {
  const headers: ParamHeader[] = [];
  const bad = collect(tool.inputSchema ?? {}, [], true, headers);
  if (bad !== undefined) return { bad };
  const names = new Set(headers.map(({ name }) => name.toLowerCase()));
  return names.size === headers.length ? { headers } : { bad: `two parameters have the same ${ANNOTATION}` };
}

/** The header fields for the arguments of a call. Null and absent arguments have none. */
export function headersOf(headers: readonly ParamHeader[], args: unknown): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const { path, name } of headers) {
    const value = path.reduce<unknown>(
      (at, key) => (isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined),
      args,
    );
    const text = written(value);
    if (text !== undefined) fields[`Mcp-Param-${name}`] = headerValue(text);
  }
  return fields;
}

function written(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value).toString() : undefined;
}

/** Gathers annotations below a schema. `reachable`: nothing but `properties` leads here. */
function collect(
  schema: unknown,
  path: readonly string[],
  reachable: boolean,
  found: ParamHeader[],
): string | undefined {
  if (Array.isArray(schema)) return firstBad(schema, (each) => collect(each, path, false, found));
  if (!isObject(schema)) return undefined;
  if (Object.hasOwn(schema, ANNOTATION)) {
    const bad = annotationFault(schema, reachable && path.length > 0);
    if (bad !== undefined) return bad;
    found.push({ path, name: String(schema[ANNOTATION]) });
  }
  return firstBad(Object.entries(schema), ([key, value]) => {
    if (DATA.includes(key)) return undefined;
    if (key !== 'properties' || !isObject(value)) return collect(value, path, false, found);
    return firstBad(Object.entries(value), ([name, each]) =>
      collect(each, [...path, name], reachable, found),
    );
  });
}

function annotationFault(schema: JsonObject, reachable: boolean): string | undefined {
  const name = schema[ANNOTATION];
  if (typeof name !== 'string' || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
    return `${ANNOTATION} is no header name`;
  }
  if (!reachable) return `${ANNOTATION} is not at a parameter that "properties" alone lead to`;
  const types = [schema.type].flat().filter((type) => type !== 'null');
  const fits = types.length === 1 && ['string', 'integer', 'boolean'].includes(String(types[0]));
  return fits ? undefined : `${ANNOTATION} is at a parameter that is no string, integer or boolean`;
}

function firstBad<T>(items: readonly T[], check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const bad = check(item);
    if (bad !== undefined) return bad;
  }
  return undefined;
}

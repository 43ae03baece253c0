import { stringifyExact } from '../util/exact-json.ts';
import { baseHeaders, type RequestHeaders, withHeaders } from './http/headers.ts';
import { DEFAULT_KEY_PREFIX, keySuffix } from './key.ts';
import { MODERN_VERSIONS } from './mcp/protocol.ts';
import { clientInfo, modernHeaders, modernRequest } from './mcp/stateless.ts';
import { request } from './rpc/envelope.ts';
import type { RpcRequest } from './types.ts';

/** A request that could be sent. Its Authorization shows the end of the key alone. */
export interface RequestPreview {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: RequestHeaders;
  readonly body: RpcRequest;
}

export interface PreviewOptions {
  readonly endpoint: URL;
  readonly key?: string | undefined;
  readonly version: string;
  readonly id?: number;
  readonly method: string;
  readonly params?: RpcRequest['params'];
  readonly headers?: RequestHeaders | undefined;
  /** With `2026-07-28` the request of that revision; else the plain one. */
  readonly protocol?: string;
}

/**
 * The request that the service would get, without sending it.
 * @throws {AppError} `usage` for header fields that cannot be sent
 */
export function previewRequest(options: PreviewOptions): RequestPreview {
  const { endpoint, key, version, id = 1, method, params, headers, protocol = 'bare' } = options;
  const modern = MODERN_VERSIONS.includes(protocol);
  const shown = key === undefined ? undefined : `${DEFAULT_KEY_PREFIX}…${keySuffix(key)}`;
  return {
    method: 'POST',
    url: endpoint.href,
    headers: withHeaders(baseHeaders({ key: shown, version }), {
      ...(modern ? modernHeaders(method, params, protocol) : {}),
      ...headers,
    }),
    body: modern
      ? modernRequest(id, method, params, protocol, clientInfo(version))
      : request(id, method, params),
  };
}

/** The `curl` command that sends the same request, for a POSIX shell. The key is taken from the environment. */
export function curlCommand({ method, url, headers, body }: RequestPreview): string {
  const fields = Object.entries(headers).map(([name, value]) =>
    name === 'Authorization'
      ? '-H "Authorization: Bearer $RESTAURANT_API_KEY"'
      : `-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`,
  );
  // curl would take [] and {} in a URL as patterns.
  const globOff = /[[\]{}]/.test(url) ? ['--globoff'] : [];
  return [
    'curl',
    ...globOff,
    `-X ${method}`,
    quote(url),
    ...fields,
    `--data-raw ${quote(stringifyExact(body) ?? '')}`,
  ].join(' ');
}

/** One word of a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

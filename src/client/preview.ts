import { escapeJson, exactJson, mapValues } from '../util/json.ts';
import { posixQuote as quote } from '../util/shell.ts';
import { baseHeaders, isHarmless, type RequestHeaders, withHeaders } from './http/headers.ts';
import { maskKey } from './key.ts';
import { modernHeaders, modernParams } from './mcp/modern.ts';
import { MODERN_VERSION } from './mcp/protocol.ts';
import { request, type TraceContext, traceOf, withTrace } from './rpc/envelope.ts';
import type { RpcRequest } from './types.ts';

/** A request that is not sent. It contains only the last characters of the key. */
interface RequestPreview {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: RequestHeaders;
  readonly body: RpcRequest;
}

interface PreviewOptions {
  readonly endpoint: URL;
  readonly key?: string | undefined;
  readonly id?: number;
  readonly method: string;
  readonly params?: RpcRequest['params'];
  readonly headers?: RequestHeaders | undefined;
  readonly traceContext?: TraceContext | undefined;
  /** `2026-07-28` gives the request of that version, any other value the plain request. */
  readonly protocol?: string;
}

export function previewRequest(options: PreviewOptions): RequestPreview {
  const { endpoint, key, id = 1, method, headers, protocol = 'bare' } = options;
  const { params, headers: trace } = withTrace(traceOf(options.traceContext, headers), options.params);
  const isModern = protocol === MODERN_VERSION;
  const all = withHeaders(withHeaders(baseHeaders(key && maskKey(key)), headers), {
    ...(isModern ? modernHeaders(method, params) : {}),
    ...trace,
  });
  return {
    method: 'POST',
    url: endpoint.href,
    headers: mapValues(all, (value, name) =>
      Object.hasOwn(headers ?? {}, name) && !isHarmless(name) ? '…' : value,
    ),
    body: request(id, method, isModern ? modernParams(params) : params),
  };
}

/** Formats the `curl` command that sends the same request, for a POSIX shell. The key is taken from the environment. */
export function curlCommand({ method, url, headers, body }: RequestPreview): string {
  const fields = Object.entries(headers).map(([name, value]) =>
    name === 'Authorization'
      ? '-H "Authorization: Bearer $RESTAURANT_API_KEY"'
      : `-H ${quote(value === '' ? `${name};` : `${name}: ${value}`)}`,
  );
  // curl would expand [] and {} in a URL.
  const globOff = /[[\]{}]/.test(url) ? ['--globoff'] : [];
  // The same JSON, with control characters escaped.
  const data = escapeJson(exactJson(body));
  return ['curl', ...globOff, `-X ${method}`, quote(url), ...fields, `--data-raw ${quote(data)}`].join(' ');
}

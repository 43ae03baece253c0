import { assertMayCarryKey, isLoopback } from '../client/endpoint.ts';
import type { RequestHeaders } from '../client/http/headers.ts';
import type { TraceContext } from '../client/rpc/envelope.ts';
import type { Hint } from '../hint.ts';
import { variable } from '../settings/settings.ts';
import { configuredEndpoint, requireEndpoint } from './address.ts';
import type { App } from './app.ts';
import { configuredKey, isUnbound, keyHint, requireKey } from './key.ts';
import { mayAuthenticate, requestHeaders } from './request-headers.ts';

/** Returns the settings of the client. @throws {AppError} `usage`, `bad_config` for an invalid setting */
export const clientSettings = ({ settings }: App) => ({
  protocol: settings.get('protocol'),
  timeoutMs: settings.get('timeout'),
  retries: settings.get('retries'),
  maxWaitMs: settings.get('max-wait'),
  maxBodyBytes: settings.get('max-body'),
});

/** Returns the trace context of this run, from the environment. */
export const traceContextOf = (env: App['context']['env']): TraceContext => ({
  traceparent: variable(env, 'TRACEPARENT'),
  tracestate: variable(env, 'TRACESTATE'),
  baggage: variable(env, 'BAGGAGE'),
});

/** The service of a run, and the key for it. */
export interface Target {
  readonly url: URL;
  /** Empty if additional headers authenticate. */
  readonly key: string;
  readonly keyHint?: Hint;
  readonly headers?: RequestHeaders;
  /** The key or its command was saved without a service. It is bound to the first service that accepts it. */
  readonly isUnboundKey?: boolean;
  /** Whether this is the sandbox in this process: nothing is counted or stored. */
  readonly demo: boolean;
}

/** Prefix of the keys of every sandbox. */
const SANDBOX_KEYS = 'sk_service_demo_';

/** Mode of the sandbox for --demo: the plain service, or a full MCP server with a list of its tools. */
export type DemoMode = 'service' | 'mcp';

/**
 * Opens the service of this run. With --demo it starts a sandbox, which is called over HTTP like any service and stops
 * at the end of the run.
 * @throws {AppError} `no_service`, `no_key`, `bad_key`; `usage` if the key would be sent unencrypted
 */
export async function openTarget(app: App, demoMode: DemoMode = 'service'): Promise<Target> {
  if (app.globals.demo === true) {
    app.config.warnIfIgnored();
    const { startSandbox } = await import('../sandbox/server.ts');
    const sandbox = await startSandbox({ mode: demoMode, perMinute: 0, perDay: 0 });
    app.cleanup.add(() => sandbox.close());
    return { url: new URL(sandbox.endpoint), key: sandbox.keys.paid, demo: true };
  }
  const { url, source } = requireEndpoint(app);
  const headers = requestHeaders(app, url);
  const { value: key, source: keySource } = await requireKey(app, url, headers);
  app.config.warnIfIgnored();
  if (source === 'config' && isLoopback(url) && key.startsWith(SANDBOX_KEYS)) {
    void app.notes.remark(`sandbox data: the saved service ${url.host} is the sandbox of this machine`);
  }
  assertMayCarryKey(url, app.globals.insecureHttp === true);
  return {
    url,
    key,
    keyHint: keyHint(app, keySource),
    headers,
    isUnboundKey: key !== '' && isUnbound(app, keySource),
    demo: false,
  };
}

/**
 * Returns the service of this run if its endpoint and key are configured. Does not start the sandbox or run the key
 * command.
 */
export function configuredTarget(app: App): Target | undefined {
  const url = configuredEndpoint(app)?.url;
  if (url === undefined) return undefined;
  const headers = requestHeaders(app, url);
  const key = configuredKey(app, url)?.value ?? (mayAuthenticate(headers) ? '' : undefined);
  return key === undefined ? undefined : { url, key, headers, demo: false };
}

import { join } from 'node:path';
import { assertMayCarryKey, isLoopback } from '../client/endpoint.ts';
import type { RequestHeaders } from '../client/http/headers.ts';
import { proxyFor } from '../client/http/proxy.ts';
import { openJsonFile } from '../storage/store.ts';
import { configuredEndpoint, requireEndpoint } from './address.ts';
import type { App } from './app.ts';
import { configuredKey, isUnbound, mayAuthenticate, requestHeaders, requireKey } from './credentials.ts';

/** How the client calls the target. @throws {AppError} for an invalid setting */
export const clientSettings = ({ settings }: App) => ({
  protocol: settings.get('protocol'),
  timeoutMs: settings.get('timeout'),
  retries: settings.get('retries'),
  maxWaitMs: settings.get('max-wait'),
});

export interface Target {
  readonly url: URL;
  /** Empty if additional headers authenticate. */
  readonly key: string;
  readonly headers?: RequestHeaders;
  /** The key or its command was saved without a service. It is bound to the first service that accepts it. */
  readonly isUnboundKey?: boolean;
  /** Whether this is the sandbox in this process, whose requests are counted in memory alone. */
  readonly demo: boolean;
}

/** Stored instead of the URL of the embedded sandbox, whose port changes. */
export const DEMO = 'demo';
const DAY_MS = 86_400_000;
const SANDBOX_KEYS = 'sk_service_demo_';

export type DemoMode = 'service' | 'mcp';

/** With --demo, starts a sandbox, which is called over HTTP like any service and stops at the end of the run. */
export async function openTarget(app: App, demoMode: DemoMode = 'service'): Promise<Target> {
  // A usage error is reported before a missing key, which another person may have to provide.
  clientSettings(app);
  if (app.globals.demo === true) {
    app.config.warnIfIgnored();
    void app.notes.note('sample data (--demo)');
    if (app.globals.offline === true) return { url: new URL('http://127.0.0.1'), key: '', demo: true };
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
    warnOfSandbox(app, url.host);
  }
  assertMayCarryKey(url, app.globals.insecureHttp === true);
  return {
    url,
    key,
    headers,
    isUnboundKey: key !== '' && isUnbound(app, keySource),
    demo: false,
  };
}

function warnOfSandbox({ context, notes, paths, terminal }: App, host: string): void {
  if (!terminal.isInteractive && !terminal.verbose) return;
  const path = paths.stateDir && join(paths.stateDir, 'sandbox-warning.json');
  const warning = openJsonFile(path, ({ at }) => (typeof at === 'number' ? { at } : undefined));
  const at = context.now();
  if (Math.abs(at - (warning.read()?.at ?? 0)) < DAY_MS) return;
  warning.write({ at });
  void notes.remark(`sandbox data: the saved service ${host} is the sandbox of this machine`);
}

/** Checks how requests will be sent, before there is a client. @throws {AppError} for an invalid proxy */
export function checkConnection(app: App, url: URL): void {
  const { env } = app.context;
  proxyFor(url, env);
  if (url.protocol === 'https:' && env.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    void app.notes.warn(
      'NODE_TLS_REJECT_UNAUTHORIZED=0 has no effect: the certificate of the service is verified',
    );
  }
}

export const labelOf = ({ url, demo }: Target): string => (demo ? DEMO : url.host);

/** Unlike {@link openTarget}, neither starts the sandbox nor runs the key command. */
export function configuredTarget(app: App): Target | undefined {
  const url = configuredEndpoint(app)?.url;
  if (url === undefined) return undefined;
  const headers = requestHeaders(app, url);
  const key = configuredKey(app, url)?.value ?? (mayAuthenticate(headers) ? '' : undefined);
  return key === undefined ? undefined : { url, key, headers, demo: false };
}

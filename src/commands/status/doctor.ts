import { existsSync, statSync } from 'node:fs';
import type { App } from '../../app/app.ts';
import { findInstalled } from '../../app/installed.ts';
import { openService } from '../../app/service.ts';
import { configuredEndpoint, supportsMcp } from '../../app/target.ts';
import { proxyFor } from '../../client/http/proxy.ts';
import { AppError } from '../../errors.ts';
import { variable } from '../../settings/settings.ts';
import { configPath } from '../../storage/config-file.ts';
import { shellWord } from '../../util/shell.ts';
import { VERSION } from '../../version.ts';

/** One thing that was checked. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly hint?: string;
}

export interface Diagnosis {
  readonly checks: readonly Check[];
  /** Time of the request to the service. */
  readonly ms: number;
  /** Why the service did not accept the request. */
  readonly error?: AppError;
}

/** Clocks that differ by more are reported, in milliseconds. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;

/** Checks the program, its files and the way to the service, with one request. */
export async function diagnose(app: App): Promise<Diagnosis> {
  const service = await checkService(app);
  const checks = [
    { name: 'version', ok: true, detail: `restaurant ${VERSION}, ${app.context.runtime}` },
    checkPath(app),
    ...checkFiles(app),
    ...checkNetwork(app),
    ...service.checks,
  ];
  return { ...service, checks };
}

function checkPath(app: App): Check {
  const found = findInstalled(app.context);
  if (found.state === 'missing')
    return { name: 'command', ok: false, detail: 'restaurant is not on the PATH' };
  return found.state === 'other'
    ? { name: 'command', ok: false, detail: `${found.path} is another program of the same name` }
    : { name: 'command', ok: true, detail: found.path };
}

/** Checks that our files exist where they should, and that other users cannot read them. */
function checkFiles(app: App): Check[] {
  const { configDir, stateDir, cacheDir } = app.paths;
  const file = configDir === undefined ? undefined : configPath(configDir);
  const places = [
    ['config', file],
    ['config folder', configDir],
    ['state folder', stateDir],
    ['cache folder', cacheDir],
  ] as const;
  return places.map(([name, path]) => {
    if (path === undefined) return { name, ok: false, detail: 'no place: HOME is not set' };
    if (!existsSync(path)) return { name, ok: true, detail: `${path} (not created yet)` };
    const { mode } = statSync(path);
    if (app.context.platform === 'win32' || (mode & 0o077) === 0) return { name, ok: true, detail: path };
    const wanted = name === 'config' ? '600' : '700';
    return {
      name,
      ok: false,
      detail: `${path} is open to other users`,
      hint: `chmod ${wanted} ${shellWord(path)}`,
    };
  });
}

/** Reports the proxy and the certificates that apply. Addresses are shown without credentials. */
function checkNetwork(app: App): Check[] {
  const { env } = app.context;
  const endpoint = app.globals.demo === true ? undefined : configuredEndpoint(app)?.url;
  const proxy = endpoint === undefined ? undefined : proxyFor(endpoint, env);
  const file = variable(env, 'NODE_EXTRA_CA_CERTS');
  const system = variable(env, 'NODE_USE_SYSTEM_CA') === '1' ? ', system' : '';
  const isMissing = file !== undefined && !existsSync(file);
  return [
    { name: 'proxy', ok: true, detail: proxy === undefined ? 'none' : proxy.url.origin },
    {
      name: 'certificates',
      ok: !isMissing,
      detail: `built in${system}${file === undefined ? '' : isMissing ? `; ${file} does not exist` : `, ${file}`}`,
      ...(isMissing ? { hint: 'correct NODE_EXTRA_CA_CERTS, or unset it' } : {}),
    },
  ];
}

/** Sends one request. Its response shows the protocol, the key and the clock. */
async function checkService(app: App): Promise<Diagnosis> {
  const { context } = app;
  let date: string | undefined;
  const start = context.now();
  try {
    const { client, label } = await openService(app, {
      client: {
        trace(event) {
          if (event.kind !== 'response') return;
          date = event.headers.find(([name]) => name.toLowerCase() === 'date')?.[1] ?? date;
        },
      },
    });
    await app.withSpinner(`checking ${label}`, () => client.check());
    const ms = context.now() - start;
    const checks: Check[] = [
      { name: 'service', ok: true, detail: `${label} accepted the key and answered in ${ms} ms` },
      {
        name: 'protocol',
        ok: true,
        detail: supportsMcp(app) === true ? 'MCP' : 'plain JSON-RPC (tools/call without a handshake)',
      },
      ...checkClock(context.now(), date),
    ];
    return { checks, ms };
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'interrupted') throw error;
    const failed = {
      name: 'service',
      ok: false,
      detail: `${error.code}: ${error.message}`,
      hint: error.hint,
    };
    return { checks: [failed, ...checkClock(context.now(), date)], ms: context.now() - start, error };
  }
}

function checkClock(now: number, date: string | undefined): Check[] {
  const there = Date.parse(date ?? '');
  if (Number.isNaN(there)) return [];
  const seconds = Math.round((now - there) / 1000);
  const ok = Math.abs(now - there) <= MAX_CLOCK_DIFFERENCE_MS;
  const detail = ok
    ? 'agrees with the service'
    : `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the service`;
  return [{ name: 'clock', ok, detail, ...(ok ? {} : { hint: 'set the clock of this machine' }) }];
}

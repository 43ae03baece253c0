import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { configuredEndpoint, supportsMcp } from '../../app/address.ts';
import type { App } from '../../app/app.ts';
import { errorHintLine } from '../../app/error-hint.ts';
import { findInstalled } from '../../app/program-path.ts';
import { openService } from '../../app/service.ts';
import { labelOf } from '../../app/target.ts';
import { proxyFor } from '../../client/http/proxy.ts';
import { AppError } from '../../errors.ts';
import { printableSetting } from '../../settings/printable.ts';
import { variable } from '../../settings/settings.ts';
import { ioReason } from '../../storage/files.ts';
import { SharedStateError } from '../../storage/ledger.ts';
import { isShared } from '../../storage/trust.ts';
import { formatDuration } from '../../util/format.ts';
import { posixWord } from '../../util/shell.ts';
import { VERSION } from '../../version.ts';

export interface HealthCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly hint?: string;
}

interface Diagnosis {
  readonly checks: readonly HealthCheck[];
  readonly ms: number;
  readonly error?: AppError;
}

const MAX_CLOCK_DIFFERENCE_MS = 60_000;

const pass = (name: string, detail: string): HealthCheck => ({ name, ok: true, detail });
const fail = (name: string, detail: string, hint?: string): HealthCheck => ({
  name,
  ok: false,
  detail,
  ...(hint === undefined ? {} : { hint }),
});

export async function diagnose(app: App): Promise<Diagnosis> {
  const store = await checkSharedState(app);
  const service = await checkService(app);
  const checks = [
    pass('version', `restaurant ${VERSION}, ${app.context.runtime}`),
    checkCommand(app),
    ...checkFiles(app),
    ...checkNetwork(app),
    ...store.checks,
    ...service.checks,
  ];
  const error = store.error ?? service.error;
  return { checks, ms: service.ms, ...(error === undefined ? {} : { error }) };
}

async function checkSharedState(app: App): Promise<Pick<Diagnosis, 'checks' | 'error'>> {
  const name = 'shared state';
  try {
    const shared = await app.sharedState();
    if (shared === undefined) return { checks: [] };
    await shared.check();
    return { checks: [pass(name, String(printableSetting(app.settings, 'shared-state').value))] };
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'interrupted') throw error;
    return { checks: [fail(name, error.message, errorHintLine(app, error))], error };
  }
}

function checkCommand(app: App): HealthCheck {
  const command = findInstalled(app.context);
  if (command.state === 'missing') return fail('command', 'restaurant is not on the PATH');
  return command.state === 'other'
    ? fail('command', `${command.path} is another program of the same name`)
    : pass('command', command.path);
}

function checkFiles({ paths }: App): HealthCheck[] {
  const { configFile, stateDir, cacheDir, dataDir } = paths;
  const places = [
    ['config', configFile, '600', 'RESTAURANT_CONFIG_DIR'],
    ['config folder', configFile && dirname(configFile), '700', 'RESTAURANT_CONFIG_DIR'],
    ['state folder', stateDir, '700', 'RESTAURANT_STATE_DIR'],
    ['cache folder', cacheDir, '700', 'RESTAURANT_CACHE_DIR'],
    ['data folder', dataDir, '700', 'RESTAURANT_DATA_DIR'],
  ] as const;
  return places.map(([name, path, mode, variableName]) => {
    if (path === undefined) return fail(name, 'unknown: HOME is not set');
    if (!existsSync(path)) {
      const problem = creationProblem(path);
      if (problem === undefined) return pass(name, `${path} (not created yet)`);
      return fail(name, `${path} cannot be created: ${problem}`, `set ${variableName}=<folder>`);
    }
    const stats = statSync(path);
    if (!isShared(stats)) return pass(name, path);
    return fail(name, `${path} is accessible to other users`, `chmod ${mode} ${posixWord(path)}`);
  });
}

function creationProblem(path: string): string | undefined {
  const parent = dirname(path);
  if (!existsSync(parent) && parent !== path) return creationProblem(parent);
  if (!statSync(parent).isDirectory()) return `${parent} is not a folder`;
  try {
    accessSync(parent, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return ioReason(error);
  }
}

/** Reports the proxy and the certificates in use. URLs are shown without credentials. */
function checkNetwork(app: App): HealthCheck[] {
  const { env } = app.context;
  const endpoint = configuredEndpoint(app)?.url;
  const proxy = endpoint === undefined ? undefined : proxyFor(endpoint, env);
  const file = variable(env, 'NODE_EXTRA_CA_CERTS');
  const builtIn = variable(env, 'NODE_USE_SYSTEM_CA') === '1' ? 'built in, system' : 'built in';
  return [
    pass('proxy', proxy === undefined ? 'none' : proxy.url.origin),
    file === undefined || existsSync(file)
      ? pass('certificates', file === undefined ? builtIn : `${builtIn}, ${file}`)
      : fail(
          'certificates',
          `${builtIn}; ${file} does not exist`,
          'correct NODE_EXTRA_CA_CERTS, or unset it',
        ),
  ];
}

async function checkService(app: App): Promise<Diagnosis> {
  const { context } = app;
  let date: string | undefined;
  const start = context.now();
  try {
    const service = await openService(app, {
      client: {
        trace(event) {
          if (event.kind !== 'response') return;
          date = event.headers.find(([name]) => name.toLowerCase() === 'date')?.[1] ?? date;
        },
      },
    });
    const label = labelOf(service.target);
    await app.notes.withSpinner(
      `checking ${label}`,
      service.client().then((client) => client.check()),
    );
    const ms = context.now() - start;
    const checks = [
      pass('service', `${label} accepted the key and answered in ${ms} ms`),
      pass('protocol', supportsMcp(app) === true ? 'MCP' : 'plain JSON-RPC (tools/call without a handshake)'),
      ...checkClock(context.now(), date),
    ];
    return { checks, ms };
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'interrupted') throw error;
    const service =
      error instanceof SharedStateError
        ? fail('service', 'not checked: without the shared state, requests cannot be counted')
        : fail('service', `${error.code}: ${error.message}`, errorHintLine(app, error));
    return { checks: [service, ...checkClock(context.now(), date)], ms: context.now() - start, error };
  }
}

function checkClock(now: number, date: string | undefined): HealthCheck[] {
  const ahead = now - Date.parse(date ?? '');
  if (Number.isNaN(ahead)) return [];
  if (Math.abs(ahead) <= MAX_CLOCK_DIFFERENCE_MS) return [pass('clock', 'in sync with the service')];
  const minutes = Math.round(Math.abs(ahead) / 60_000);
  const detail = `${formatDuration(minutes * 60_000)} ${ahead > 0 ? 'ahead of' : 'behind'} the service`;
  return [fail('clock', detail, 'set the clock of this machine')];
}

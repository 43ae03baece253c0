import type { App } from '../app/app.ts';
import type { FoundKey } from '../app/target.ts';
import type { CliCommand } from '../cli/command.ts';
import { boolean, CONFIG_OUTPUT, list, object, text, textOrNull } from '../cli/schemas.ts';
import { AppError } from '../errors.ts';
import { SETTING_NAMES } from '../settings/catalogue.ts';
import { VERSION } from '../version.ts';
import type { Window } from './status/format.ts';

const WINDOW = object({
  limit: { type: ['integer', 'null'] },
  used: { type: 'integer' },
  free_at: { type: ['string', 'null'], format: 'date-time' },
});

/** Schema of what `status --json` prints. */
const STATUS_OUTPUT = object(
  {
    version: text,
    profile: text,
    endpoint: textOrNull,
    key: object({ present: boolean, last4: textOrNull, source: textOrNull, problem: text }, [
      'present',
      'last4',
      'source',
    ]),
    settings: CONFIG_OUTPUT,
    budget: object({ per_minute: WINDOW, per_day: WINDOW }),
    files: object({ config: textOrNull, state: textOrNull, cache: textOrNull }),
    check: object({ ok: boolean, ms: { type: 'number' } }),
    checks: list(object({ name: text, ok: boolean, detail: text, hint: text }, ['name', 'ok', 'detail'])),
  },
  ['version', 'profile', 'endpoint', 'key', 'settings', 'budget', 'files'],
);

/** Adds `status` to the program. */
export function registerStatus(program: CliCommand, app: App, action = status): void {
  program
    .command('status')
    .summary('Show the service, key, settings and quota')
    .description(
      'Show which service, key, settings, quota and files are in use; with --check whether they work.',
    )
    .option('--check', 'Check everything, with one request to the service')
    .usesOptions('service', 'request', 'json')
    .outputSchema(STATUS_OUTPUT)
    .examples('restaurant status', 'restaurant status --check --demo', 'restaurant status --json')
    .action((options: { check?: true }) => action(app, options.check === true));
}

/** Prints which service, key, settings, quota and files this run would use; with `check` whether all of it works. */
async function status(app: App, check: boolean): Promise<void> {
  const { writeText } = await import('../app/output.ts');
  const { configuredEndpoint, headerViews, keyCommandOf } = await import('../app/target.ts');
  const { keySuffix } = await import('../client/key.ts');
  const { configPath } = await import('../storage/config-file.ts');
  app.config();
  const diagnosis = check ? await (await import('./status/doctor.ts')).diagnose(app) : undefined;
  // JSON is data or an error; a person sees both.
  if (diagnosis?.error !== undefined && app.wantsJson) throw diagnosis.error;
  const isDemo = app.globals.demo === true;
  const endpoint = isDemo ? undefined : configuredEndpoint(app)?.url;
  const { key, problem } = isDemo ? {} : await usableKey(app, endpoint);
  // The command may ask its owner for a password, so only --check runs it.
  const hasCommand = !isDemo && problem === undefined && keyCommandOf(app) !== undefined;
  const facts = {
    version: VERSION,
    profile: app.settings.profileName,
    endpoint: endpoint?.href ?? null,
    key: {
      present: key !== undefined || hasCommand,
      last4: key === undefined ? null : keySuffix(key.value),
      source: key?.source ?? (hasCommand ? 'key-command' : null),
      ...(problem === undefined ? {} : { problem }),
    },
    settings: {
      ...Object.fromEntries(SETTING_NAMES.map((name) => [name, app.settings.view(name)])),
      ...headerViews(app),
    },
    budget: await quotaOf(app, endpoint, key?.value),
    files: {
      config: app.paths.configDir === undefined ? null : configPath(app.paths.configDir),
      state: app.paths.stateDir ?? null,
      cache: app.paths.cacheDir ?? null,
    },
    ...(diagnosis === undefined
      ? {}
      : { check: { ok: diagnosis.error === undefined, ms: diagnosis.ms }, checks: diagnosis.checks }),
  };
  const { formatStatus } = await import('./status/format.ts');
  await writeText(app, facts, () => formatStatus(app, facts));
  if (diagnosis?.error !== undefined) throw diagnosis.error;
}

/** Returns the key, or what is wrong with it. */
async function usableKey(app: App, endpoint: URL | undefined): Promise<{ key?: FoundKey; problem?: string }> {
  const { configuredKey } = await import('../app/target.ts');
  try {
    const key = configuredKey(app, endpoint);
    return key === undefined ? {} : { key };
  } catch (error) {
    if (error instanceof AppError && error.kind === 'auth') return { problem: error.message };
    throw error;
  }
}

async function quotaOf(
  app: App,
  endpoint: URL | undefined,
  key: string | undefined,
): Promise<{ per_minute: Window; per_day: Window }> {
  const perMinute = app.settings.need('per-minute');
  const perDay = app.settings.need('per-day');
  if (endpoint === undefined || key === undefined) {
    return { per_minute: windowOf(perMinute, 0), per_day: windowOf(perDay, 0) };
  }
  const { ledgerOf } = await import('../app/service.ts');
  const usage = await ledgerOf(app, { url: endpoint, key }, { perMinute, perDay }).usage();
  return {
    per_minute: windowOf(perMinute, usage.perMinute.used, usage.perMinute.freeAt),
    per_day: windowOf(perDay, usage.perDay.used, usage.perDay.freeAt),
  };
}

const windowOf = (limit: number, used: number, freeAt?: number): Window => ({
  limit: limit === 0 ? null : limit,
  used,
  free_at: freeAt === undefined ? null : new Date(freeAt).toISOString(),
});

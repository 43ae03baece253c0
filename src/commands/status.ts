import type { App } from '../app/app.ts';
import { writeText } from '../app/output.ts';
import { ledgerOf, openService } from '../app/service.ts';
import {
  configuredEndpoint,
  configuredKey,
  type FoundKey,
  headerViews,
  keyCommandOf,
} from '../app/target.ts';
import type { CliCommand } from '../cli/command.ts';
import { boolean, CONFIG_OUTPUT, object, text, textOrNull } from '../cli/schemas.ts';
import { keySuffix } from '../client/key.ts';
import { AppError } from '../errors.ts';
import { renderPairs } from '../output/pairs.ts';
import { SETTING_NAMES } from '../settings/catalogue.ts';
import type { SettingView } from '../settings/settings.ts';
import { configPath } from '../storage/config-file.ts';
import { VERSION } from '../version.ts';

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
  },
  ['version', 'profile', 'endpoint', 'key', 'settings', 'budget', 'files'],
);

/** Adds `status` to the program. */
export function registerStatus(program: CliCommand, app: App, action = status): void {
  program
    .command('status')
    .summary('which service, key, settings and quota')
    .description('Show which service, key, settings, quota and files are in use.')
    .option('--check', 'make one call to see that the service takes the key')
    .usesOptions('service', 'request', 'json')
    .outputSchema(STATUS_OUTPUT)
    .examples('restaurant status', 'restaurant status --check --demo', 'restaurant status --json')
    .action((options: { check?: true }) => action(app, options.check === true));
}

interface Window {
  limit: number | null;
  used: number;
  free_at: string | null;
}

/** Prints which service, key, settings, quota and files this run would use; with `check` after one call. */
async function status(app: App, check: boolean): Promise<void> {
  app.config();
  const checked = check ? await probe(app) : undefined;
  const demo = app.globals.demo === true;
  const endpoint = demo ? undefined : configuredEndpoint(app)?.url;
  const { key, problem } = demo ? {} : usableKey(app, endpoint);
  // The command may ask its owner for a password, so only --check runs it.
  const hasCommand = !demo && problem === undefined && keyCommandOf(app) !== undefined;
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
    budget: await budgetOf(app, endpoint, key?.value),
    files: {
      config: app.paths.configDir === undefined ? null : configPath(app.paths.configDir),
      state: app.paths.stateDir ?? null,
      cache: app.paths.cacheDir ?? null,
    },
    ...(checked === undefined ? {} : { check: checked }),
  };
  await writeText(app, facts, () => statusText(app, facts));
}

/** The key, or what is wrong with it: telling that is what status is for. */
function usableKey(app: App, endpoint: URL | undefined): { key?: FoundKey; problem?: string } {
  try {
    const key = configuredKey(app, endpoint);
    return key === undefined ? {} : { key };
  } catch (error) {
    if (error instanceof AppError && error.kind === 'auth') return { problem: error.message };
    throw error;
  }
}

async function probe(app: App): Promise<{ ok: true; ms: number }> {
  const { client, label } = await openService(app);
  const start = app.context.now();
  await app.withSpinner(`asking ${label}`, () => client.check());
  return { ok: true, ms: app.context.now() - start };
}

async function budgetOf(
  app: App,
  endpoint: URL | undefined,
  key: string | undefined,
): Promise<{ per_minute: Window; per_day: Window }> {
  const perMinute = app.settings.need('per-minute');
  const perDay = app.settings.need('per-day');
  if (endpoint === undefined || key === undefined) {
    return { per_minute: windowOf(perMinute, 0), per_day: windowOf(perDay, 0) };
  }
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

function statusText(
  app: App,
  facts: {
    profile: string;
    endpoint: string | null;
    key: { last4: string | null; source: string | null; problem?: string };
    settings: Record<string, SettingView>;
    budget: { per_minute: Window; per_day: Window };
    files: Record<string, string | null>;
    check?: { ms: number };
  },
): string {
  const source =
    { env: 'RESTAURANT_API_KEY', 'key-command': 'key-command' }[facts.key.source ?? ''] ?? 'saved login';
  const none = app.globals.demo === true ? 'none needed' : `none: ${facts.key.problem ?? 'restaurant login'}`;
  const key =
    facts.key.last4 !== null
      ? `…${facts.key.last4} (${source})`
      : facts.key.source === 'key-command'
        ? 'printed by key-command'
        : none;
  const told = Object.entries(facts.settings).filter(([, { value }]) => value !== null);
  return renderPairs(
    [
      {
        pairs: [
          ['Profile', facts.profile],
          [
            'Service',
            facts.endpoint ??
              (app.globals.demo === true
                ? 'the embedded sandbox'
                : 'none: restaurant login --base-url <url>'),
          ],
          ['Key', key],
          ...(facts.check === undefined
            ? []
            : [['Check', `the service answered in ${facts.check.ms} ms`] as const]),
        ],
      },
      {
        title: 'Quota',
        pairs: [
          ['This minute', windowText(facts.budget.per_minute)],
          ['Last 24 hours', windowText(facts.budget.per_day)],
        ],
      },
      {
        title: 'Settings',
        pairs: told.map(([name, { value, source: from }]) => [name, String(value ?? ''), from] as const),
      },
      {
        title: 'Files',
        pairs: Object.entries(facts.files).map(([name, path]) => [name, path ?? 'none'] as const),
      },
    ],
    app.view,
  );
}

const windowText = ({ limit, used, free_at }: Window): string =>
  [
    limit === null ? `${used} used, no limit` : `${used} of ${limit} used`,
    free_at === null ? '' : `room again at ${free_at}`,
  ]
    .filter((part) => part !== '')
    .join('; ');

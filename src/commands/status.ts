import type { App } from '../app/app.ts';
import { writeText } from '../app/output.ts';
import { configuredEndpoint, configuredKey, type FoundKey, settingViews } from '../app/target.ts';
import type { CliCommand } from '../cli/command.ts';
import { boolean, integer, list, object, SETTINGS_OUTPUT, text, textOrNull } from '../cli/schemas.ts';
import { keySuffix } from '../client/key.ts';
import { AppError } from '../errors.ts';
import type { PairSection } from '../output/pairs.ts';
import { maskUrl } from '../util/url.ts';
import { VERSION } from '../version.ts';
import type { Check } from './status/doctor.ts';

const WINDOW = object({
  limit: { type: ['integer', 'null'] },
  used: integer,
  free_at: { type: ['string', 'null'], format: 'date-time' },
});

const STATUS_OUTPUT = object({
  version: text,
  profile: text,
  endpoint: textOrNull,
  key: object({ present: boolean, last4: textOrNull, source: textOrNull, 'problem?': text }),
  settings: SETTINGS_OUTPUT,
  budget: object({ per_minute: WINDOW, per_day: WINDOW }),
  files: object({ config: textOrNull, state: textOrNull, cache: textOrNull }),
  'check?': object({ ok: boolean, ms: { type: 'number' } }),
  'checks?': list(object({ name: text, ok: boolean, detail: text, 'hint?': text })),
});

export function registerStatus(command: CliCommand, app: App): void {
  command
    .about('Show the service, key, settings, and quota')
    .option('--check', 'Check everything, with one request to the service')
    .usesOptions('service', 'request', 'json')
    .outputSchema(STATUS_OUTPUT)
    .examples('restaurant status', 'restaurant status --check --demo', 'restaurant status --json')
    .action(({ check }: { check?: true }) => status(app, check === true));
}

async function status(app: App, check: boolean): Promise<void> {
  app.config();
  const diagnosis = check ? await (await import('./status/doctor.ts')).diagnose(app) : undefined;
  const { error, ms, checks = [] } = diagnosis ?? {};
  // JSON output is either data or an error; a person sees both.
  if (error !== undefined && app.wantsJson) throw error;
  const facts = await collectFacts(app);
  const json = {
    ...facts,
    ...(diagnosis === undefined ? {} : { check: { ok: error === undefined, ms }, checks }),
  };
  const { renderPairs } = await import('../output/pairs.ts');
  await writeText(app, json, () => renderPairs(sectionsOf(app, facts, checks), app.view));
  if (error !== undefined) throw error;
}

type Facts = Awaited<ReturnType<typeof collectFacts>>;

async function collectFacts(app: App) {
  const { settings, paths } = app;
  const endpoint = configuredEndpoint(app)?.url;
  // A key command may prompt for a password, so only --check runs it.
  const { key, problem } = app.globals.demo === true ? {} : usableKey(app, endpoint);
  return {
    version: VERSION,
    profile: settings.profileName,
    endpoint: endpoint === undefined ? null : maskUrl(endpoint.href),
    key: {
      present: key !== undefined,
      last4: key?.value === undefined ? null : keySuffix(key.value),
      source: key?.source ?? null,
      ...(problem === undefined ? {} : { problem }),
    },
    settings: settingViews(app),
    budget: await quotaOf(app, endpoint, key?.value),
    files: {
      config: paths.configFile ?? null,
      state: paths.stateDir ?? null,
      cache: paths.cacheDir ?? null,
    },
  };
}

/** Returns the key, or the problem with it. */
function usableKey(app: App, endpoint: URL | undefined): { key?: FoundKey | undefined; problem?: string } {
  try {
    return { key: configuredKey(app, endpoint) };
  } catch (error) {
    if (error instanceof AppError && error.kind === 'auth') return { problem: error.message };
    throw error;
  }
}

async function quotaOf(app: App, url: URL | undefined, key: string | undefined) {
  const { openLedgerFor, quotaLimits } = await import('../app/quota.ts');
  const limits = quotaLimits(app);
  const ledger = url && key !== undefined && (await openLedgerFor(app, { url, key }, limits));
  const usage = ledger ? await ledger.usage() : undefined;
  const window = (limit: number, use: { used: number; freeAt?: number } = { used: 0 }) => ({
    limit: limit === 0 ? null : limit,
    used: use.used,
    free_at: use.freeAt === undefined ? null : new Date(use.freeAt).toISOString(),
  });
  return {
    per_minute: window(limits.perMinute, usage?.perMinute),
    per_day: window(limits.perDay, usage?.perDay),
  };
}

const KEY_SOURCES = {
  env: 'RESTAURANT_API_KEY',
  config: 'saved login',
  'key-command': 'key-command',
} as const;

function sectionsOf(app: App, facts: Facts, checks: readonly Check[]): PairSection[] {
  const { last4, source, problem } = facts.key;
  const { per_minute, per_day } = facts.budget;
  const isDemo = app.globals.demo === true;
  const noService = isDemo ? 'the embedded sandbox' : 'none: restaurant login --base-url <url>';
  const noKey = isDemo
    ? 'none needed'
    : source === 'key-command'
      ? 'printed by key-command'
      : `none: ${problem ?? 'restaurant login'}`;
  return [
    {
      pairs: [
        ['Profile', facts.profile],
        ['Service', facts.endpoint ?? noService],
        ['Key', last4 === null || source === null ? noKey : `…${last4} (${KEY_SOURCES[source]})`],
      ],
    },
    {
      title: 'Checks',
      pairs: checks.map(({ name, ok, detail, hint }) => {
        const text = `${ok ? 'ok' : 'problem'}: ${detail}`;
        return [name, hint === undefined ? text : `${text}\n${hint}`];
      }),
    },
    {
      title: 'Quota',
      pairs: [
        ['This minute', formatWindow(per_minute)],
        ['Last 24 hours', formatWindow(per_day)],
      ],
    },
    {
      title: 'Settings',
      pairs: Object.entries(facts.settings).flatMap(([name, { value, source: from }]) =>
        value === null ? [] : [[name, String(value), from] as const],
      ),
    },
    { title: 'Files', pairs: Object.entries(facts.files).map(([name, path]) => [name, path ?? 'none']) },
  ];
}

function formatWindow({ limit, used, free_at }: Facts['budget']['per_day']): string {
  const use = limit === null ? `${used} used, no limit` : `${used} of ${limit} used`;
  return free_at === null ? use : `${use}; available again at ${free_at}`;
}

import { configuredEndpoint } from '../app/address.ts';
import type { App } from '../app/app.ts';
import { type ConfiguredKey, configuredKey } from '../app/credentials.ts';
import { writeText } from '../app/output.ts';
import { writesToTerminal } from '../app/output-file.ts';
import type { CliCommand } from '../cli/command.ts';
import { boolean, list, object, SETTINGS_OUTPUT, TIME_OR_NULL, text, textOrNull } from '../cli/schemas.ts';
import { keySuffix } from '../client/key.ts';
import { AppError } from '../errors.ts';
import type { PairSection } from '../output/pairs.ts';
import { type PrintableSetting, printableSettings } from '../settings/printable.ts';
import type { Usage } from '../storage/ledger.ts';
import { nextMinute, shortTime } from '../util/format.ts';
import { maskUrl } from '../util/url.ts';
import { VERSION } from '../version.ts';
import type { HealthCheck } from './status/doctor.ts';

const WINDOW = object({
  limit: { type: ['integer', 'null'] },
  used: { type: ['integer', 'null'] },
  free_at: TIME_OR_NULL,
});

const STATUS_OUTPUT = object({
  version: text,
  profile: text,
  endpoint: textOrNull,
  key: object({ present: boolean, last4: textOrNull, source: textOrNull, 'problem?': text }),
  settings: SETTINGS_OUTPUT,
  budget: object({ per_minute: WINDOW, per_day: WINDOW, paused_until: TIME_OR_NULL, 'problem?': text }),
  files: object({ config: textOrNull, state: textOrNull, cache: textOrNull, data: textOrNull }),
  'check?': object({ ok: boolean, ms: { type: 'number' } }),
  'checks?': list(object({ name: text, ok: boolean, detail: text, 'hint?': text })),
});

export function registerStatus(command: CliCommand, app: App): void {
  command
    .about('Show the service, key, settings, and quota')
    .option('--check', 'Check everything, with one request to the service')
    .option('--all', 'Include settings with their default in JSON')
    .usesOptions('service', 'request', 'json')
    .outputSchema(STATUS_OUTPUT)
    .examples('restaurant status', 'restaurant status --check --demo', 'restaurant status --json')
    .action((options: StatusOptions) => status(app, options));
}

interface StatusOptions {
  readonly check?: boolean;
  readonly all?: boolean;
}

const isSet = ([, { source }]: [string, PrintableSetting]): boolean => source !== 'default';

async function status(app: App, { check = false, all = false }: StatusOptions): Promise<void> {
  app.config.file();
  const diagnosis = check ? await (await import('./status/doctor.ts')).diagnose(app) : undefined;
  const { error, ms, checks = [] } = diagnosis ?? {};
  const facts = await collectFacts(app);
  const settings = all ? facts.settings : Object.fromEntries(Object.entries(facts.settings).filter(isSet));
  const json = {
    ...facts,
    settings,
    ...(diagnosis === undefined ? {} : { check: { ok: error === undefined, ms }, checks }),
  };
  const { renderPairs } = await import('../output/pairs.ts');
  await writeText(app, json, () => renderPairs(sectionsOf(app, facts, checks), app.terminal.settingsView));
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
    settings: printableSettings(settings),
    budget: await quotaOf(app, endpoint, key?.value),
    files: {
      config: paths.configFile ?? null,
      state: paths.stateDir ?? null,
      cache: paths.cacheDir ?? null,
      data: paths.dataDir ?? null,
    },
  };
}

function usableKey(
  app: App,
  endpoint: URL | undefined,
): { key?: ConfiguredKey | undefined; problem?: string } {
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
  let usage: Usage | undefined;
  let problem: string | undefined;
  try {
    const ledger = url && key !== undefined && (await openLedgerFor(app, { url, key, demo: false }, limits));
    if (ledger) usage = await ledger.usage();
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'interrupted') throw error;
    problem = error.message;
  }
  const unused = { used: problem === undefined ? 0 : null };
  return {
    per_minute: windowOf(limits.perMinute, usage?.perMinute ?? unused),
    per_day: windowOf(limits.perDay, usage?.perDay ?? unused),
    paused_until: isoTime(usage?.pausedUntil),
    ...(problem === undefined ? {} : { problem }),
  };
}

const windowOf = (limit: number, { used, freeAt }: { used: number | null; freeAt?: number }) => ({
  limit: limit === 0 ? null : limit,
  used,
  free_at: isoTime(freeAt),
});

const isoTime = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString());

const KEY_SOURCES = {
  env: 'RESTAURANT_API_KEY',
  config: 'saved login',
  'key-command': 'key-command',
} as const;

function sectionsOf(app: App, facts: Facts, checks: readonly HealthCheck[]): PairSection[] {
  const { last4, source, problem } = facts.key;
  const isDemo = app.globals.demo === true;
  const noService = isDemo ? 'the embedded sandbox' : 'none: restaurant login';
  const keyless =
    source === 'key-command' ? 'printed by key-command' : `none: ${problem ?? 'restaurant login'}`;
  const noKey = isDemo ? 'none needed' : keyless;
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
      pairs: quotaPairs(app, facts.budget),
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

type Budget = Facts['budget'];

function quotaPairs(app: App, { per_minute, per_day, paused_until, problem }: Budget): [string, string][] {
  const time = (iso: string): string =>
    writesToTerminal(app) ? shortTime(nextMinute(Date.parse(iso)), app.context.now()) : iso;
  const show = ({ limit, used, free_at }: Budget['per_day']): string => {
    const use =
      limit === null ? `${used ?? 'unknown'} used, no limit` : `${used ?? 'unknown'} of ${limit} used`;
    return free_at === null ? use : `${use}; available again at ${time(free_at)}`;
  };
  return [
    ['This minute', show(per_minute)],
    ['Last 24 hours', show(per_day)],
    ...pairIf('Pause', paused_until, (iso) => `paused until ${time(iso)} (requested by the service)`),
    ...pairIf('Problem', problem, (text) => text),
  ];
}

const pairIf = (name: string, value: string | null | undefined, text: (value: string) => string) =>
  value === undefined || value === null ? [] : [[name, text(value)] as [string, string]];

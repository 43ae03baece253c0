import type { App } from '../../app/app.ts';
import { renderPairs } from '../../output/pairs.ts';
import type { SettingView } from '../../settings/settings.ts';
import type { Check } from './doctor.ts';

/** The use of one quota. */
export interface Window {
  readonly limit: number | null;
  readonly used: number;
  readonly free_at: string | null;
}

/** Output of `status`. */
export interface StatusFacts {
  readonly profile: string;
  readonly endpoint: string | null;
  readonly key: { readonly last4: string | null; readonly source: string | null; readonly problem?: string };
  readonly settings: Readonly<Record<string, SettingView>>;
  readonly budget: { readonly per_minute: Window; readonly per_day: Window };
  readonly files: Readonly<Record<string, string | null>>;
  readonly checks?: readonly Check[];
}

const KEY_SOURCES: Readonly<Record<string, string>> = {
  env: 'RESTAURANT_API_KEY',
  config: 'saved login',
  'key-command': 'key-command',
};

/** Formats the status for a person. */
export function formatStatus(app: App, facts: StatusFacts): string {
  const { last4, source, problem } = facts.key;
  const isDemo = app.globals.demo === true;
  const noKey = isDemo
    ? 'none needed'
    : source === 'key-command'
      ? 'printed by key-command'
      : `none: ${problem ?? 'restaurant login'}`;
  const noService = isDemo ? 'the embedded sandbox' : 'none: restaurant login --base-url <url>';
  const settings = Object.entries(facts.settings).filter(([, { value }]) => value !== null);
  return renderPairs(
    [
      {
        pairs: [
          ['Profile', facts.profile],
          ['Service', facts.endpoint ?? noService],
          ['Key', last4 === null ? noKey : `…${last4} (${KEY_SOURCES[source ?? ''] ?? source})`],
        ],
      },
      ...(facts.checks === undefined
        ? []
        : [
            {
              title: 'Checks',
              pairs: facts.checks.map(({ name, ok, detail, hint }) => {
                const text = `${ok ? 'ok' : 'problem'}: ${detail}`;
                return [name, hint === undefined ? text : `${text}\n${hint}`] as const;
              }),
            },
          ]),
      {
        title: 'Quota',
        pairs: [
          ['This minute', formatWindow(facts.budget.per_minute)],
          ['Last 24 hours', formatWindow(facts.budget.per_day)],
        ],
      },
      {
        title: 'Settings',
        pairs: settings.map(([name, { value, source: from }]) => [name, String(value ?? ''), from] as const),
      },
      {
        title: 'Files',
        pairs: Object.entries(facts.files).map(([name, path]) => [name, path ?? 'none'] as const),
      },
    ],
    app.view,
  );
}

function formatWindow({ limit, used, free_at }: Window): string {
  const use = limit === null ? `${used} used, no limit` : `${used} of ${limit} used`;
  return free_at === null ? use : `${use}; free again at ${free_at}`;
}

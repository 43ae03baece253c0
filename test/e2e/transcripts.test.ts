import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newHome, type Transcript } from '../helpers/program.ts';
import { FREE, PAID, REVOKED, useService } from '../helpers/service.ts';

const service = useService();
const mcp = useService({ mode: 'mcp' });

const NOPA = ['find', 'Nopa', '--city', 'SF', '-n', '2'];
const ID = 'a7c1e5d2-3f84-4b69-9d20-6e8f1b4c7a53';
const LIST = 'name,city\nNopa,SF\nNo Such Place,SF\n,SF\n';

interface Case {
  /** One command line, or several in the same home, of which the last is printed. */
  readonly lines: readonly (readonly string[])[];
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Whether the service is a full MCP server. */
  readonly mcp?: true;
}

const run = (...words: string[]): Case => ({ lines: [words] });

const CASES: readonly Case[] = [
  run(...NOPA),
  run(...NOPA, '--json'),
  run(...NOPA, '--jq', '.results[].name'),
  run(...NOPA, '--columns', 'name,grade'),
  run(...NOPA, '--fields', 'standard'),
  run(...NOPA, '--cuisine', 'mexican'),
  run(...NOPA, '--dry-run'),
  run(...NOPA, '--curl'),
  run('find', 'zzzz', '--city', 'SF'),
  run('find', 'Nopa', 'SF'),
  run('find', 'Nopa'),
  run('find', 'Nopa', '--city', 'San', 'Francisco'),
  run('find', 'Nopa', '--location', 'SF', '--json'),
  run('find', 'Nopa', '--city', 'SF', '--limit', '0'),
  { ...run(...NOPA), env: { RESTAURANT_API_KEY: REVOKED } },
  { ...run(...NOPA, '--json'), env: { RESTAURANT_API_KEY: undefined } },
  { ...run(...NOPA), env: { RESTAURANT_BASE_URL: undefined } },
  { lines: [NOPA, ['lookup', '1']] },
  { lines: [NOPA, ['lookup', '1-2', '--fields', 'premium', '--columns', 'name,phone']] },
  { lines: [NOPA, ['lookup', '9']] },
  { lines: [NOPA, ['last']] },
  run('lookup', ID, '--json'),
  run('lookup', 'no-such-id'),
  { ...run('lookup', '-', '--json'), stdin: `${ID}\nno-such-id\n` },
  { ...run('lookup', ID, '--fields', 'premium'), env: { RESTAURANT_API_KEY: FREE } },
  { ...run('enrich', '-'), stdin: LIST },
  { ...run('enrich', '-', '--json', '-o', 'out.csv'), stdin: LIST },
  run('enrich', 'list.csv', '-o', 'out.csv', '--dry-run'),
  run('enrich', 'missing.csv'),
  { ...run('login', '--key-stdin'), stdin: PAID },
  { ...run('login', '--key-stdin', '--json'), stdin: REVOKED },
  run('login', 'sk_service_secret'),
  run('status'),
  run('status', '--jq', '.'),
  run('call', 'find_restaurant', 'name=Nopa', 'city=SF', '--columns', 'name'),
  run('call', 'find_restaurant', 'name=Nopa'),
  { ...run('call', 'explore_area', 'city=SF', 'neighborhood=NoPa', '--jq', '.cuisines[0]'), mcp: true },
  run('raw', 'tools/list'),
  run('raw', 'tools/call', '-f', 'name=lookup_restaurant', '-f', `arguments.restaurant_id=${ID}`, '--unwrap'),
  run('raw', 'tools/call', '{"name"'),
  run('tools'),
  { ...run('tools'), mcp: true },
  { ...run('tools', 'find_restaurant'), mcp: true },
  { ...run('tools', 'find', '--json'), mcp: true },
  run('fnd', 'Nopa'),
  run('show', '1', '--json'),
];

/** Formats a transcript as one text, without what changes from run to run. */
function golden(text: Transcript, home: string, address: string): string {
  const parts = [
    `exit ${text.exit}`,
    ...(['stdout', 'stderr'] as const).flatMap((key) => [`--- ${key}`, text[key]]),
  ];
  return parts
    .join('\n')
    .replaceAll(home, '<home>')
    .replaceAll(address, '<host>')
    .replaceAll(encodeURIComponent(address), '<host>')
    .replace(/\b\d+(\.\d)? ?ms\b|"ms": ?\d+/g, '<ms>')
    .trimEnd();
}

const title = ({ lines, env = {}, mcp: isMcp }: Case): string =>
  [
    ...lines.map((words) => words.join(' ')),
    ...Object.keys(env).map((name) => `another ${name}`),
    ...(isMcp ? ['an MCP server'] : []),
  ].join('; ');

describe.each(['pipe', 'terminal'] as const)('the transcript in a %s of', (kind) => {
  it.each(CASES.map((each) => [title(each), each] as const))('%s', async (_title, each) => {
    const { home, env } = newHome();
    writeFileSync(join(home, 'list.csv'), LIST);
    const { sandbox, run: runAt } = each.mcp ? mcp : service;
    const isTerminal = kind === 'terminal';
    const options = {
      env: { ...env, NO_COLOR: '1', ...each.env },
      cwd: home,
      stdin: each.stdin ?? '',
      now: () => Date.UTC(2026, 0, 2, 12),
      tty: { stdout: isTerminal, stderr: isTerminal, columns: 100 },
    };
    let last: Transcript | undefined;
    for (const words of each.lines) last = await runAt(words, options);
    expect(last && golden(last, home, new URL(sandbox.baseUrl).host)).toMatchSnapshot();
  });
});

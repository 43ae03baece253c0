import { describe, expect, it } from 'vitest';
import { FREE, useService } from '../../helpers/service.ts';

const service = useService();
const lookup = (...words: string[]) => service.run(['lookup', ...words]);
const ids = async (city = 'SF', count = 3): Promise<string[]> => {
  const { stdout } = await service.run(['find', 'a', '--city', city, '--limit', String(count), '--json']);
  return JSON.parse(stdout).results.map((row: { service_id: string }) => row.service_id);
};
const UNKNOWN = '00000000-0000-4000-8000-000000000000';

describe('lookup', () => {
  it('prints the output object of one id', async () => {
    const [id = ''] = await ids();
    const { exit, stdout, stderr } = await lookup(id, '--json');
    expect([exit, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'ok', service_id: id });
  });

  it('sends fields unless they are basic', async () => {
    const [id = ''] = await ids();
    await lookup(id, '--json', '--fields', 'basic');
    expect(service.sandbox.requests.at(-1)?.body).toMatchObject({
      params: { arguments: { restaurant_id: id } },
    });
    expect(JSON.stringify(service.sandbox.requests.at(-1)?.body)).not.toContain('fields');
    const basic = JSON.parse((await lookup(id, '--json')).stdout);
    const premium = JSON.parse((await lookup(id, '--fields', 'premium', '--json')).stdout);
    expect(Object.keys(premium).length).toBeGreaterThan(Object.keys(basic).length);
  });

  it('shows grade, summary, cuisine and price first, and then all other fields', async () => {
    const [id = ''] = await ids();
    const tty = { stdout: true, columns: 80 };
    const { stdout } = await service.run(['lookup', id, '--fields', 'premium', '--no-color'], { tty });
    const output = JSON.parse((await lookup(id, '--fields', 'premium', '--json')).stdout);
    const flat = stdout.replace(/\s+/g, ' ');
    expect(flat).toContain(output.name);
    for (const word of output.tldr.split(' ')) expect(flat).toContain(word);
    expect(stdout.split('\n')[0]).toContain(output.grade);
    const leaves = (value: unknown): unknown[] =>
      typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [value];
    const texts = leaves(output).filter(
      (leaf) => typeof leaf === 'string' && leaf.length < 20 && leaf !== 'ok',
    );
    expect(texts.length).toBeGreaterThan(10);
    for (const text of texts) expect(flat).toContain(String(text));
  });

  it('accepts row numbers of the last find', async () => {
    const [, second] = await ids();
    expect(JSON.parse((await lookup('2', '--json')).stdout).service_id).toBe(second);
    const beyond = await lookup('99');
    expect(beyond.exit).toBe(3);
    expect(beyond.stderr).toMatch(/^error: row 99: your last search had 3 results\nhint: /);
  });

  it('prints key and value lines in a pipe, with a blank line between restaurants', async () => {
    const [one = '', two = ''] = await ids();
    const alone = await service.run(['lookup', one]);
    const both = await service.run(['lookup', one, two]);
    expect(both.stdout.startsWith(`${alone.stdout}\nrestaurant_id\t${two}\n`)).toBe(true);
    expect(alone.stdout).toContain(`restaurant_id\t${one}\nstatus\tok\n`);
    const row = await service.run(['lookup', one, two, '--columns', 'restaurant_id,status']);
    expect(row.stdout).toBe(`${one}\tok\n${two}\tok\n`);
  });

  it('prints the same CSV columns for one id as for several', async () => {
    const [one = '', two = ''] = await ids();
    const alone = await service.run(['lookup', one, '--format', 'csv']);
    const both = await service.run(['lookup', one, two, '--format', 'csv']);
    expect(both.stdout.startsWith(alone.stdout)).toBe(true);
    expect(alone.stdout).toContain(`${one},ok`);
    const { stdout } = await service.run(['lookup', one, '--format', 'ndjson']);
    expect(JSON.parse(stdout)).not.toHaveProperty('restaurant_id');
  });

  it('reads ids from stdin, one per line or as the output of find, and requests each once', async () => {
    const [one = '', two = ''] = await ids();
    service.sent();
    const lines = await service.run(['lookup', '-', '--json'], { stdin: `${one}\n\n  ${two}\r\n${one}\n` });
    expect(service.sent()).toBe(2);
    expect(JSON.parse(lines.stdout).map((entry: { restaurant_id: string }) => entry.restaurant_id)).toEqual([
      one,
      two,
    ]);
    const found = await service.run(['find', 'a', '--city', 'SF', '--limit', '2', '--json']);
    const piped = await service.run(['lookup', '-', '--json'], { stdin: found.stdout });
    expect(piped).toEqual(lines);
    const search = ['find', 'a', '--city', 'SF', '--limit', '2', '--fields', 'standard', '--json'];
    const detailed = await service.run(search);
    expect(await service.run(['lookup', '-', '--json'], { stdin: detailed.stdout })).toEqual(lines);
    const one_id = await service.run(['lookup', '-', '--json'], { stdin: `${one}\n` });
    expect(JSON.parse(one_id.stdout)).toHaveLength(1);
    const empty = await service.run(['lookup', '-', '--json'], { stdin: '\n' });
    expect(empty).toEqual({ exit: 0, stdout: '[]\n', stderr: '' });
  });

  it('explains null from jq: the search found nothing', async () => {
    const { exit, stderr } = await service.run(['lookup', '-'], { stdin: 'null\n' });
    expect(exit).toBe(2);
    expect(stderr).toMatch(/line 1: 'null' is not an id: the search before it found nothing/);
  });

  it('looks up several ids in order, and continues after a failure', async () => {
    const [one = '', two = ''] = await ids();
    const { exit, stdout, stderr } = await lookup(one, UNKNOWN, two, '--json');
    expect(exit).toBe(8);
    const entries = JSON.parse(stdout);
    expect(entries.map((entry: { restaurant_id: string }) => entry.restaurant_id)).toEqual([
      one,
      UNKNOWN,
      two,
    ]);
    expect(entries[1].error).toMatchObject({ code: 'not_found', retryable: false });
    expect(entries[2].output.service_id).toBe(two);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'partial' });
    const records = (await lookup(one, UNKNOWN, '--format', 'ndjson')).stdout.trim().split('\n');
    expect(records.map((line) => Object.keys(JSON.parse(line)))).toEqual([
      ['restaurant_id', 'output'],
      ['restaurant_id', 'error'],
    ]);
  });

  it('stops at the quota of the day', async () => {
    const many = await ids('SF', 5);
    const env = { RESTAURANT_PER_DAY: '3', RESTAURANT_STATE_DIR: `${service.home}/budget-state` };
    service.sent();
    const { exit, stdout, stderr } = await service.run(['lookup', ...many, '--json'], { env });
    expect([exit, stdout, service.sent()]).toEqual([5, '', 3]);
    expect(JSON.parse(stderr).error).toMatchObject({
      code: 'budget_spent',
      retry_after: expect.any(Number),
      message: expect.stringContaining('the quota of 3 requests a day is used up until'),
    });
  });

  it('distinguishes an unknown id from fields that require a paid key', async () => {
    const unknown = await lookup(UNKNOWN, '--json');
    expect(unknown.exit).toBe(3);
    expect(unknown.stdout).toBe('');
    expect(JSON.parse(unknown.stderr).error).toMatchObject({ code: 'not_found' });
    const [id = ''] = await ids();
    const free = { env: { RESTAURANT_API_KEY: FREE } };
    const refused = await service.run(['lookup', id, '--fields', 'standard', '--json'], free);
    expect(refused.exit).toBe(4);
    expect(JSON.parse(refused.stderr).error).toMatchObject({ code: 'plan_required', retryable: false });
    expect((await service.run(['lookup', id, '--json'], free)).exit).toBe(0);
  });

  it('rejects an invalid id before any request', async () => {
    service.sent();
    for (const id of ['a?b', 'a#b', 'a%2e', '../x', 'a..b', 'a\u0007b', '', 'a b']) {
      const { exit } = await lookup(id);
      expect([id, exit]).toEqual([id, 2]);
    }
    expect((await lookup('abc', '-')).exit).toBe(2);
    expect((await lookup('abc', '--fields', 'gold')).stderr).toContain(
      'expected one of basic, standard, premium',
    );
    expect(service.sent()).toBe(0);
  });
});

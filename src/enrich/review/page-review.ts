import type { App } from '../../app/app.ts';
import { openStoredResponses, type StoredResponses } from '../../app/responses.ts';
import { configuredTarget } from '../../app/target.ts';
import { findResult, TOOLS } from '../../client/tools.ts';
import { guardFormula } from '../../output/csv.ts';
import type { RowReview } from '../../output/html/document.ts';
import { isId } from '../../util/restaurant.ts';
import { cleanLine } from '../../util/text.ts';
import type { Found } from '../match/match.ts';
import type { RowQuery } from '../match/query.ts';
import { candidateFacts, findCandidates, restaurantOf } from './candidates.ts';

const MAX_CHOICES = 20;
const DOUBTFUL: readonly string[] = ['likely', 'ambiguous', 'not_found'];
const NOTHING: Found = { results: [], total: 0 };

export interface PageRowFacts {
  readonly query: RowQuery;
  /** The text of a field of the result. */
  readonly text: (field: string) => string;
}

/** The choices for doubtful rows on a page. Candidates come from the cache; nothing is sent. */
export class PageReviews {
  readonly #stored: StoredResponses | undefined;

  private constructor(stored: StoredResponses | undefined) {
    this.#stored = stored;
  }

  static async open(app: App): Promise<PageReviews> {
    const target = configuredTarget(app);
    return new PageReviews(
      target === undefined ? undefined : await openStoredResponses(app, target, { since: 0, preview: true }),
    );
  }

  /** Returns nothing for a row without doubt, or without candidates. */
  async of({ query, text }: PageRowFacts): Promise<RowReview | undefined> {
    if (!DOUBTFUL.includes(text('status')) || text('match') === 'rejected') return undefined;
    const { name, city } = query.kind === 'search' ? query : { name: '', city: '' };
    const current = restaurantOf(text);
    const candidates = await findCandidates(
      { find: (words) => this.#find(words) },
      {
        name,
        city,
        current,
        point: query.kind === 'none' ? undefined : query.place?.point,
      },
    );
    // Other ids could be formulas, and `review --apply` refuses them.
    const usable = candidates.filter(({ restaurant }) => isId(restaurant.service_id));
    if (usable.length === 0) return undefined;
    const choices = usable.slice(0, MAX_CHOICES).map((candidate) => ({
      id: candidate.restaurant.service_id,
      text: [cleanLine(candidate.restaurant.name), ...candidateFacts(candidate)].join(', '),
    }));
    return { name: guardFormula(cleanLine(name).trim()), current: current?.service_id ?? null, choices };
  }

  async #find({ name, city }: { readonly name: string; readonly city: string }): Promise<Found> {
    const { definition, args } = TOOLS.find;
    const found = await this.#stored?.get(definition.name, args({ name, city }));
    return found === undefined ? NOTHING : { results: findResult(found.value).results, total: 0 };
  }
}

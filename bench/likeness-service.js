// A service that finds restaurants by the likeness of their names, as search engines do, or by parts of their names.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { cityOf } from './dirty-list.js';

const MAX_RESULTS = 10;
const MIN_LIKENESS = 0.3;

const fold = (name) =>
  name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .trim();

function trigrams(name) {
  const padded = `  ${fold(name).replace(/\s+/g, ' ')} `;
  return new Set(Array.from({ length: padded.length - 2 }, (_, at) => padded.slice(at, at + 3)));
}

/** The share of trigrams that two names have in common (Jaccard). */
function likeness(one, other) {
  let common = 0;
  for (const each of one) if (other.has(each)) common += 1;
  return common / (one.size + other.size - common);
}

/** Make a function that says how well a name fits, from 0 to 1, by kind of search. */
const SEARCHES = {
  likeness(query) {
    const wanted = trigrams(query);
    return (entry) => likeness(wanted, entry.trigrams);
  },
  parts(query) {
    const wanted = fold(query);
    return (entry) => (entry.folded.includes(wanted) ? 1 : 0);
  },
};

/** Makes the search of the service. @param kind `likeness` or `parts` */
export function createSearch(restaurants, kind) {
  const entries = restaurants.map((restaurant) => ({
    restaurant,
    folded: fold(restaurant.name),
    trigrams: trigrams(restaurant.name),
  }));
  return ({ name, city }) => {
    const [wanted, likenessOf] = [cityOf(city), SEARCHES[kind](name)];
    const results = entries
      .filter(({ restaurant }) => restaurant.city === wanted)
      .map((entry) => ({ restaurant: entry.restaurant, score: likenessOf(entry) }))
      .filter(({ score }) => score >= MIN_LIKENESS)
      .sort((one, other) => other.score - one.score)
      .slice(0, MAX_RESULTS)
      .map(({ restaurant }) => restaurant);
    return { status: 'ok', results, total_matches: results.length };
  };
}

/** Starts a service on loopback. */
export async function startService(search) {
  const server = createServer(async (request, response) => {
    const { id, params } = JSON.parse(await text(request));
    const content = [{ type: 'text', text: JSON.stringify(search(params.arguments)) }];
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { content } }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

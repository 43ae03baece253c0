import type { FindOutput, FindQuery } from '../src/client/types.ts';

type Search = (query: FindQuery) => FindOutput;
export function createSearch(restaurants: readonly object[], kind: 'likeness' | 'parts'): Search;

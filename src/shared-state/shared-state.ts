import { createHmac } from 'node:crypto';
import type { ResponseCache } from '../storage/cache.ts';
import type { Ledger, Limits } from '../storage/ledger.ts';
import { sharedCache } from './shared-cache.ts';
import { sharedLedger } from './shared-ledger.ts';
import { Store, type StoreOptions } from './store.ts';

/** The request ledger and the response cache of many machines, in Redis or Valkey. */
export type SharedState = ReturnType<typeof openSharedState>;

export function openSharedState(options: StoreOptions) {
  const store = new Store(options);
  return {
    ledger: (endpoint: string, key: string, limits: Limits): Ledger =>
      sharedLedger(store, prefixOf(endpoint, key), limits),
    /** @param account the API key and other credentials */
    cache: (endpoint: string, account: string): ResponseCache =>
      sharedCache(store, prefixOf(endpoint, account), account),
    /** @throws {SharedStateError} if the store cannot be used */
    async check(): Promise<void> {
      const parse = (reply: unknown) => reply === 'OK' || undefined;
      await store.run({ script: "return 'OK'", keys: [], args: [], parse });
    },
    close: () => store.close(),
  };
}

/** A keyed hash, so that the store reveals neither key nor endpoint. Braces keep all keys on one cluster node. */
const prefixOf = (endpoint: string, key: string): string =>
  `restaurant:{${createHmac('sha256', key).update(`shared state\n${endpoint}`).digest('hex')}}`;

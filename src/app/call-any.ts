import type { OutputOptions } from '../client/results.ts';
import type { JsonObject } from '../util/json.ts';
import { fromCache, fromClient, NO_RESPONSES, type Received, storing } from './responses.ts';
import type { Service } from './service.ts';

interface AnyCall<T> {
  readonly name: string;
  readonly args: JsonObject;
  send(options: OutputOptions): Promise<T>;
  shouldStore?(value: T): boolean;
}

/** Calls a tool by its name, or any method. Only with --max-age may the response come from the cache. */
export async function callAny<T>(
  { app, stored: responses }: Service,
  { name, args, send, shouldStore }: AnyCall<T>,
): Promise<Received<T>> {
  const { value: maxAgeMs, source } = app.settings.resolve('max-age');
  const isCached = app.globals.offline === true || (source === 'flag' && maxAgeMs !== 0);
  const stored = isCached ? responses : NO_RESPONSES;
  // An entry belongs to the same call, so it has the type that the call returned.
  const parse = (json: unknown) => json as T;
  const cached = await stored.get(name, args);
  if (cached !== undefined) return fromCache(cached, parse);
  const texts: string[] = [];
  const sent = send({ onText: (each) => texts.push(each) });
  const received = sent.then((value) => fromClient(value, texts));
  return storing(stored, [name, args], received, shouldStore);
}

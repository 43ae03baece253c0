import type { Answer } from './answer.ts';
import { mediaType } from './body.ts';
import { duplicateKey } from './duplicate-key.ts';
import { excerpt } from './excerpt.ts';
import { firstValue } from './exchange.ts';

/** What is odd about an answer that is taken all the same, for those who want to know. */
export function remarksOn({ headers, text, envelope }: Answer, isStream: boolean): string[] {
  if (envelope === undefined) return [];
  const type = mediaType(firstValue(headers['content-type']) ?? '');
  const fits = isStream ? type === 'text/event-stream' : /^application\/(?:[^/]*\+)?json$/.test(type);
  const called = type === '' ? 'has no Content-Type' : `is called ${excerpt(type, 60)}`;
  const twice = duplicateKey(text);
  return [
    fits ? undefined : `the answer ${called}, but is ${isStream ? 'a stream of events' : 'JSON'}`,
    twice === undefined
      ? undefined
      : `the key ${JSON.stringify(excerpt(twice, 60))} stands twice in one object of the answer; the last one counts`,
    text.includes('\uFFFD')
      ? 'the answer holds U+FFFD: a byte that is not UTF-8, or that character itself'
      : undefined,
  ].filter((remark) => remark !== undefined);
}

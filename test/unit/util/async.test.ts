import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import { onAbort } from '../../../src/util/async.ts';

it('onAbort calls the function once the signal is aborted, unless it was ended before', () => {
  const stop = new AbortController();
  const calls: string[] = [];
  onAbort(stop.signal, () => calls.push('kept'));
  onAbort(stop.signal, () => calls.push('ended'))();
  expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
  stop.abort();
  expect(calls).toEqual(['kept']);
});

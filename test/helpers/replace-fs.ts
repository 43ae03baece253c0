import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

type Change = (...words: unknown[]) => unknown;

/** For the rest of the test, another function has the place of one of `node:fs`, which it gets. */
export function replaceFs(
  name: 'linkSync' | 'lstatSync' | 'renameSync',
  change: (own: Change) => Change,
): void {
  const functions = fs as unknown as Record<typeof name, Change>;
  const own = functions[name];
  const put = (each: Change): void => {
    functions[name] = each;
    syncBuiltinESMExports();
  };
  put(change(own));
  onTestFinished(() => put(own));
}

import { rmSync } from 'node:fs';
import type { App } from '../app/app.ts';
import { clearPages, pagesFolder } from '../app/page.ts';
import { openCache } from '../storage/cache.ts';
import { codeFolder } from '../storage/paths.ts';

/**
 * Deletes what the folder of the cache holds: answers, pages that were shown, compiled code.
 * @returns how many answers
 * @throws {AppError} `io_error` when they cannot be deleted
 */
export function clearCache({ context, paths: { cacheDir } }: App): number {
  const removed = openCache({ cacheDir, now: context.now }).clear();
  if (cacheDir !== undefined) {
    clearPages(pagesFolder(cacheDir));
    // The next start compiles anew; what is left of earlier versions goes.
    rmSync(codeFolder(cacheDir), { recursive: true, force: true });
  }
  return removed;
}

import type { App } from '../app/app.ts';
import { writeText } from '../app/output.ts';
import type { CliCommand } from '../cli/command.ts';
import { integer, object, textOrNull } from '../cli/schemas.ts';
import { deleteCode } from '../storage/code-folder.ts';
import { perform } from '../storage/files.ts';
import { codeFolder } from '../storage/paths.ts';
import { assertOwnPath } from '../storage/trust.ts';
import { plural } from '../util/format.ts';

export function registerCache(command: CliCommand, app: App): void {
  const cache = command
    .about('Clear or locate the response cache')
    .examples('restaurant cache clear')
    .notes('Maximum age of a cached response: --max-age, RESTAURANT_MAX_AGE, or config set max-age.');
  cache
    .command('clear')
    .about('Remove the cached responses of this machine')
    .usesOptions('json')
    .outputSchema(object({ removed: integer }))
    .examples('restaurant cache clear')
    .action(() => clearCache(app));
  cache
    .command('path')
    .about('Print the folder of the cache')
    .usesOptions('json')
    .outputSchema(object({ path: textOrNull }))
    .examples('restaurant cache path')
    .action(() => {
      const path = app.paths.cacheDir ?? null;
      return writeText(app, { path }, () => (path === null ? '' : `${path}\n`));
    });
}

async function clearCache(app: App): Promise<void> {
  const { deletePages } = await import('../app/page.ts');
  const { clearResponses } = await import('../storage/cache.ts');
  const { cacheDir } = app.paths;
  const removed = clearResponses(cacheDir);
  if (cacheDir !== undefined) {
    deletePages(cacheDir);
    const folder = codeFolder(cacheDir);
    deleteCode(perform('read', folder, () => assertOwnPath(folder)));
  }
  await writeText(app, { removed }, () => `removed ${plural(removed, 'cached response')}\n`);
}

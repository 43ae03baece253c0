import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';

/** Adds `cache` and its subcommands to the program. */
export function registerCache(program: CliCommand, app: App): void {
  const cache = program
    .command('cache')
    .summary('the response cache')
    .description('The cache of answers to find and lookup.')
    .examples('restaurant cache clear')
    .notes('How old a cached answer may be: --max-age, RESTAURANT_MAX_AGE, or config set max-age.');
  cache
    .command('clear')
    .summary('remove all cached answers')
    .description('Remove all cached answers.')
    .usesOptions('json')
    .outputSchema({ type: 'object', required: ['removed'], properties: { removed: { type: 'integer' } } })
    .examples('restaurant cache clear')
    .action(async () => {
      const { clearCache } = await import('../actions/clear-cache.ts');
      const { writeText } = await import('../app/output.ts');
      const removed = clearCache(app);
      await writeText(
        app,
        { removed },
        () => `removed ${removed} cached ${removed === 1 ? 'answer' : 'answers'}\n`,
      );
    });
  cache
    .command('path')
    .summary('where the cache is')
    .description('Print the folder of the cache.')
    .usesOptions('json')
    .outputSchema({ type: 'object', required: ['path'], properties: { path: { type: ['string', 'null'] } } })
    .examples('restaurant cache path')
    .action(async () => {
      const { writeText } = await import('../app/output.ts');
      const path = app.paths.cacheDir ?? null;
      await writeText(app, { path }, () => (path === null ? '' : `${path}\n`));
    });
}

import { extname } from 'node:path';
import { defineConfig } from 'vitest/config';
import { bundleTable } from './scripts/table-library.js';
import { TEXT_MODULES } from './scripts/text-modules.js';

export default defineConfig({
  // As the build does: the default export of these files is their text.
  plugins: [
    {
      name: 'text-modules',
      enforce: 'pre',
      transform: (code, id) =>
        extname(id) in TEXT_MODULES ? `export default ${JSON.stringify(code)};` : null,
    },
  ],
  resolve: { alias: { 'cli-table3': await bundleTable() } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/helpers/temp-folder.ts', 'test/faults/table.ts'],
    pool: 'threads',
    // Modules keep no state, so the files of a thread share them; loading them anew for each is half of the time.
    isolate: false,
    maxWorkers: '100%',
    // In CI a failed test runs once more; .ci/run lists those that pass then as flaky, to be fixed.
    retry: process.env.CI === undefined ? 0 : 1,
    setupFiles: ['test/helpers/seed.ts'],
    // For a machine that does much else; a program that hangs is killed after 50 seconds.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

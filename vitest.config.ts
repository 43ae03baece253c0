import { defineConfig } from 'vitest/config';
import { bundleTable } from './scripts/table-library.js';

export default defineConfig({
  // As the build does: the text of a CSV file is its default export.
  plugins: [
    {
      name: 'csv-text',
      enforce: 'pre',
      transform: (code, id) => (id.endsWith('.csv') ? `export default ${JSON.stringify(code)};` : null),
    },
  ],
  resolve: { alias: { 'cli-table3': await bundleTable() } },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/faults/table.ts'],
    pool: 'threads',
    // Modules keep no state, so the files of a thread share them; loading them anew for each is half of the time.
    isolate: false,
    maxWorkers: '100%',
    // For a machine that does much else; a program that hangs is killed a little before.
    testTimeout: 60_000,
  },
});

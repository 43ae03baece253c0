import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { bundleTable, TEXT_MODULES } from './scripts/bundle.js';
import { FILES } from './test/windows/left-out.ts';

const ON_WINDOWS = process.platform === 'win32';
const leftOut = ON_WINDOWS
  ? FILES.flatMap(({ files }) => files.map((path) => `test/${path}.test.ts`))
  : ['test/windows/**'];

export default defineConfig(async ({ mode }) => ({
  // As in the build, the default export of these files is their text.
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
    exclude: [...configDefaults.exclude, ...leftOut],
    globalSetup: ['test/helpers/temp-folder.ts'],
    pool: 'threads',
    // Modules keep no state, so the test files of a thread share them. Loading them for each file would take twice as long.
    isolate: false,
    // More threads than cores, because tests wait half of the time: for processes, time limits, and quotas.
    maxWorkers: availableParallelism() * 2,
    // In CI, a failed test runs once more. .ci/run lists tests that pass the second time as flaky, to be fixed.
    retry: process.env.CI === undefined ? 0 : 1,
    env: {
      TEST_MODE: mode,
      // As for the snapshots of Vitest.
      UPDATE_SESSIONS: String(process.argv.some((word) => word === '-u' || word === '--update')),
    },
    setupFiles: ['test/helpers/seed.ts', ...(ON_WINDOWS ? ['test/windows/skip.ts'] : [])],
    // Long enough for a busy machine. A program that hangs is killed after 50 seconds.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
}));

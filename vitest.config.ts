import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { bundleTable, TEXT_MODULES } from './scripts/bundle.js';
import { FILES } from './test/windows/left-out.ts';

const ON_WINDOWS = process.platform === 'win32';
const leftOut = ON_WINDOWS
  ? FILES.flatMap(({ files }) => files.map((path) => `test/${path}.test.ts`))
  : ['test/windows/**'];

/**
 * Those that take longest begin first, so that no core idles at the end; most of them start programs, while the memory of the
 * workers is small. Vitest only knows their sizes in a new clone.
 */
const BEGIN_FIRST =
  /histories|e2e\/(?:page|pick|process|storage)\/|(?:expressions|input|keys|kill|user-paths)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => BEGIN_FIRST.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

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
    sequence: { sequencer: LongestFirst },
    // Elsewhere than on Windows, a program starts more slowly, the more memory the process has that starts it.
    pool: ON_WINDOWS ? 'threads' : 'forks',
    // Modules keep no state, so the test files of a worker share them. Loading them for each file would take twice as long.
    isolate: false,
    // More workers than cores, because tests wait half of the time: for processes, time limits, and quotas.
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

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/faults/table.ts'],
    pool: 'threads',
    maxWorkers: '100%',
    testTimeout: 20_000,
  },
});

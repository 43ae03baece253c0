import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { restaurant } from '../../helpers/process.ts';
import { type CommandRun, RUNS, resetFolder, splitWords, useCommandRuns } from '../../helpers/runs.ts';

const { service, home, again } = useCommandRuns();

/** Runs of parts that the build changes, and of libraries that it loads on first use. */
const LINES = [
  'restaurant find Nopa --city SF --jq .results[].name',
  'restaurant find Nopa --city SF --format html',
  'restaurant find Nopa --city SF -o list.xlsx && restaurant enrich list.xlsx -o out.csv',
  'restaurant find Nopa --city SF -o out.parquet && restaurant enrich out.parquet -o from-parquet.csv',
  'restaurant find Nopa --city SF --format markdown',
  'restaurant call find_restaurant name=Nopa city:=1',
  'restaurant call find_restaurant --args {"name":1,}',
  'restaurant enrich places.csv -o out.csv -o out.geojson -o out.html',
  'restaurant enrich results.csv -o out.csv && restaurant enrich results.csv -o out.csv --older 0s',
  'restaurant mcp config codex --write',
  'restaurant mcp config zed --write',
  'restaurant find Nopa --city SF --base-url http://127.0.0.1:1 --retries 0',
];

/** Masks times, the ids of lines, and the checksum of a page, which says when it was written. */
const steady = (text: string) =>
  text
    .replace(/20\d\d-\d\d-\d\dT[\d:.]+Z|20\d\d-\d\d-\d\d \d\d:\d\d UTC|"at":\d+/g, 'TIME')
    .replace(/"id":"[0-9a-f]{16}"/g, '"id":"ID"')
    .replace(/(?<=\.html","sha256":")[0-9a-f]{64}/g, 'SHA256');

/** Returns the texts of the files in the home folder itself. */
const files = () =>
  readdirSync(home, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(xlsx|parquet)$/.test(entry.name))
    .map(({ name }) => [name, steady(readFileSync(join(home, name), 'utf8'))]);

describe('the built program prints and writes what its sources do', () => {
  const color = { FORCE_COLOR: '1' };

  async function outcomesOf(isBuilt: boolean, steps: readonly CommandRun[]) {
    resetFolder(home);
    const outcomes = [];
    for (const { words, stdin = '' } of steps) {
      const env = { ...service.env, HOME: home, PATH: join(home, 'bin'), ...color };
      const { exit, stdout, stderr } = isBuilt
        ? await restaurant(words, { env, cwd: home, stdin })
        : await again({ words, stdin }, { env: color });
      outcomes.push({ exit, stdout: steady(stdout), stderr: steady(stderr), files: files() });
    }
    return outcomes;
  }

  const lines = LINES.map((line) => line.split(' && ').map((step) => ({ words: splitWords(step) })));
  it.each([...Object.values(RUNS).map((run) => [run]), ...lines])('%j', async (...steps) => {
    expect(await outcomesOf(true, steps)).toEqual(await outcomesOf(false, steps));
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { tempFolder } from '../helpers/temp-folder.ts';
import type { FaultCount } from './tally.ts';

/** Sets up the file in which faults are counted; the returned teardown prints it as a table. */
export function setup(project: TestProject): () => void {
  const file = join(tempFolder(), 'tally');
  writeFileSync(file, '');
  project.provide('faultTally', file);
  return () => {
    const lines = readFileSync(file, 'utf8').trim();
    if (lines !== '') console.log(tableOf(lines.split('\n').map((line) => JSON.parse(line) as FaultCount)));
  };
}

function tableOf(all: readonly FaultCount[]): string {
  const groups = [...new Set(all.map(({ group }) => group))].sort();
  const rows = [...groups.map((group) => rowOf(group, all)), rowOf('all', all)];
  return ['', line('faults', 'tried', 'survived', 'time'), ...rows].join('\n');
}

function rowOf(group: string, all: readonly FaultCount[]): string {
  const some = all.filter((each) => group === 'all' || each.group === group);
  const sum = (count: (each: FaultCount) => number) => some.reduce((total, each) => total + count(each), 0);
  const ms = Math.max(...some.map(({ to }) => to)) - Math.min(...some.map(({ from }) => from));
  return line(
    group,
    String(sum(({ tried }) => tried)),
    String(sum(({ survived }) => survived)),
    `${(ms / 1000).toFixed(1)} s`,
  );
}

const line = (group: string, tried: string, survived: string, time: string): string =>
  `  ${group.padEnd(22)}${tried.padStart(8)}${survived.padStart(10)}${time.padStart(10)}`;

// All steps of histories.
import type { NamedStep } from './history.ts';
import {
  addBranch,
  changeOptions,
  correct,
  duplicate,
  insert,
  remove,
  reorder,
  toggleColumn,
} from './list-steps.ts';
import { decide, editView, mergeMachine, undoDecision, undoTheUndo } from './person-steps.ts';
import {
  bringUpToDate,
  killAtByte,
  killProcess,
  refresh,
  runWithFailures,
  stopInBetween,
} from './run-steps.ts';

export const STEPS: readonly NamedStep[] = [
  ['insert', insert],
  ['delete', remove],
  ['sort', reorder],
  ['duplicate', duplicate],
  ['branch', addBranch],
  ['branch', addBranch],
  ['correct', correct],
  ['column', toggleColumn],
  ['column', toggleColumn],
  ['run', bringUpToDate],
  ['run', bringUpToDate],
  ['failures', runWithFailures],
  ['stop', stopInBetween],
  ['kill', killAtByte],
  ['decide', (history) => decide(history)],
  ['decide', (history) => decide(history)],
  ['undo', undoDecision],
  ['undo', undoDecision],
  ['redo', undoTheUndo],
  ['refresh', refresh],
  ['merge', mergeMachine],
  ['edit', editView],
  ['options', changeOptions],
];

/** Steps of histories in which processes are killed. */
export const STEPS_WITH_KILLS: readonly NamedStep[] = [
  ['insert', insert],
  ['insert', insert],
  ['correct', correct],
  ['run', bringUpToDate],
  ['decide', (history) => decide(history)],
  ['kill -9', killProcess],
  ['kill -9', killProcess],
];

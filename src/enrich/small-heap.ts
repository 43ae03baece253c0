import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Most that the space for new objects may take, in bytes: it holds what is garbage a moment later. */
const MOST_NEW = 8 * 1024 * 1024;

/**
 * Keeps the heap small while a list is worked on, which leaves much behind and keeps little: the garbage collector runs
 * when the heap has grown by half, not when it is four times what is in use, and the space for new objects stops growing
 * in time, which in later versions of Node would take 100 MB.
 * @returns to be called now and then
 */
export function keepHeapSmall(): () => void {
  setFlagsFromString('--heap-growing-percent=50');
  let grows = true;
  return () => {
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const mayGrow = (space?.space_size ?? 0) < MOST_NEW;
    if (mayGrow === grows) return;
    grows = mayGrow;
    // There is no way to set the limit itself while the program runs.
    setFlagsFromString(`--semi-space-growth-factor=${grows ? 2 : 1}`);
  };
}

import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Most that the space for new objects may take, in bytes: it holds what is garbage a moment later. */
const MOST_NEW = 14 * 1024 * 1024;

/**
 * Keeps the heap small while a list is worked on, which leaves much behind and keeps little: the garbage collector runs
 * when the heap has grown by half, not when it is four times what is in use, and the space for new objects stops growing
 * in time, which in later versions of Node would take 100 MB.
 * @returns to be called now and then: lets that space grow while it is small
 */
export function keepHeapSmall(): () => void {
  setFlagsFromString('--heap-growing-percent=50');
  // What saves a short run the time to compile the parser of HTTP well costs a long one more.
  setFlagsFromString('--wasm-tiering-budget=13000000');
  const grow = (mayGrow: boolean): void => {
    grows = mayGrow;
    // There is no way to set the limit itself while the program runs.
    setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`);
  };
  let grows = false;
  grow(false);
  return () => {
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    const mayGrow = (space?.space_size ?? 0) < MOST_NEW;
    if (mayGrow !== grows) grow(mayGrow);
  };
}

/**
 * Calls a function when a signal is aborted.
 * @returns ends this. Nothing that the function refers to is retained then: the signal's list of listeners may outlive them
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  let wanted: (() => void) | undefined = act;
  const listener = (): void => wanted?.();
  signal.addEventListener('abort', listener, { once: true });
  return () => {
    signal.removeEventListener('abort', listener);
    wanted = undefined;
  };
}

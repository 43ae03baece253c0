import { fstatSync } from 'node:fs';

/** Whether a descriptor is a file or a pipe. Asking Node's stream takes milliseconds, because that creates it. */
export function isFileOrPipe(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() || stats.isFIFO() || stats.isSocket();
  } catch {
    return false;
  }
}

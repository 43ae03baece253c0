import { fstatSync } from 'node:fs';

/** Faster than Node's streams, which take milliseconds to create. */
export function isFileOrPipe(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFile() || stats.isFIFO() || stats.isSocket();
  } catch {
    return false;
  }
}

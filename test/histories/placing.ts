// When a view was put in place, seen from the answers. After a kill, the view of that moment is left.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';

type Place = (from: fs.PathLike, to: fs.PathLike) => void;

/** Does the work. @returns how large another file was each time that a file of this name was put in place */
export async function sizesAtPlacing(
  name: string,
  sizeOf: () => number,
  work: () => Promise<unknown>,
): Promise<readonly number[]> {
  const { renameSync, linkSync } = fs;
  const sizes: number[] = [];
  const noting =
    (place: Place): Place =>
    (from, to) => {
      place(from, to);
      if (basename(String(to)) === name) sizes.push(sizeOf());
    };
  Object.assign(fs, { renameSync: noting(renameSync), linkSync: noting(linkSync) });
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    Object.assign(fs, { renameSync, linkSync });
    syncBuiltinESMExports();
  }
  return sizes;
}

// The size of the package and the time of its installation.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { path } from '../scripts/project.js';
import { median, time } from './measure.js';

/** Prints the size of the package and the time npm takes to install it. */
export function benchPackage({ home, say }) {
  const options = { cwd: path(), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
  const packed = execFileSync(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', home],
    options,
  );
  const [{ filename, unpackedSize, entryCount }] = JSON.parse(packed);
  const tarball = join(home, filename);
  const env = { ...process.env, npm_config_update_notifier: 'false' };
  const install = () => {
    const place = mkdtempSync(join(home, 'install-'));
    return time(['npm', 'install', '--prefix', place, '--offline', '--no-audit', '--no-fund', tarball], env);
  };
  const times = Array.from({ length: 3 }, install);
  const kb = (bytes) => `${Math.round(bytes / 1000)} kB`;
  say(
    `package               ${kb(statSync(tarball).size)}, ${kb(unpackedSize)} unpacked, ${entryCount} files\n`,
  );
  say(`npm install           ${(median(times) / 1000).toFixed(1)} s, offline, no other package\n`);
}

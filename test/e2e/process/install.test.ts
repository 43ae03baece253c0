import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../helpers/temp-folder.ts';

const INSTALLER = resolve('scripts/install.sh');
const PLATFORMS = ['linux', 'darwin'].flatMap((system) => [
  `${system}-x64`,
  `${system}-arm64`,
  `${system}-x64-musl`,
]);
/** Writes a release whose archives contain a script. */
const RELEASE = `for platform in ${PLATFORMS.join(' ')}; do
  name=restaurant-1-$platform; mkdir $name; printf '#!/bin/sh\\necho 1\\n' > $name/restaurant; chmod +x $name/restaurant
  tar -czf $name.tar.gz $name
  if command -v sha256sum > /dev/null; then sha256sum $name.tar.gz; else shasum -a 256 $name.tar.gz; fi >> SHA256SUMS
done`;

it.skipIf(process.platform === 'win32')(
  'scripts/install.sh installs into a relative folder what has the SHA-256',
  () => {
    const cwd = tempFolder();
    const release = join(cwd, 'release');
    mkdirSync(release);
    execFileSync('sh', ['-c', RELEASE], { cwd: release });
    const install = (folder: string) =>
      spawnSync('sh', [INSTALLER], {
        cwd,
        env: { PATH: process.env.PATH, FROM: 'release', BIN_DIR: folder },
        encoding: 'utf8',
      });
    expect(install('bin').stdout).toMatch(/^installed \/.*\/bin\/restaurant \(1\)\n/);
    expect(existsSync(join(cwd, 'bin', 'restaurant'))).toBe(true);
    for (const platform of PLATFORMS)
      writeFileSync(join(release, `restaurant-1-${platform}.tar.gz`), 'x', { flag: 'a' });
    expect(install('other').stderr).toContain(
      'does not have the SHA-256 in SHA256SUMS; nothing was installed',
    );
    expect(existsSync(join(cwd, 'other'))).toBe(false);
  },
);

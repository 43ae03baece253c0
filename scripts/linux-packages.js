// Creates the .deb and .rpm packages of an archive of scripts/build-standalone.js, with Debian's dpkg-deb and rpmbuild. The same
// archive gives the same packages.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fill, manifest, path } from './project.js';

const { name, version, description } = manifest;
/** Names of processors in the archives, in Debian, and in rpm. */
const PROCESSORS = { x64: ['amd64', 'x86_64'], arm64: ['arm64', 'aarch64'] };

/** Lays the files of $archive out as in a system, and packs them. The build for this machine prints the completion scripts. */
const SCRIPT = `
mkdir unpacked
tar -xzf "$archive" -C unpacked --strip-components 1
export SOURCE_DATE_EPOCH=$(stat -c %Y unpacked/LICENSE)
share=content/usr/share
doc=$share/doc/${name}
zsh=$share/zsh/vendor-completions
mkdir -p content/usr/bin content/DEBIAN $doc $share/man/man1 $share/bash-completion/completions $zsh $share/fish/vendor_completions.d
"$node" "$program" completion bash > $share/bash-completion/completions/restaurant
"$node" "$program" completion zsh > $zsh/_restaurant
"$node" "$program" completion fish > $share/fish/vendor_completions.d/restaurant.fish
cd unpacked
gzip -9n < restaurant.1 > ../$share/man/man1/restaurant.1.gz
gzip -9n < CHANGELOG.md > ../$doc/CHANGELOG.md.gz
gzip -9n < ../changelog > ../$doc/changelog.gz
cp LICENSE ../$doc/copyright
cp THIRD-PARTY.txt BUN-LICENSES.txt LGPL-*.txt sbom.cdx.json ../$doc
cp restaurant ../content/usr/bin
cd ..

size=$(find content -type f -printf '%s\\n' | awk '{ size += int(($1 + 1023) / 1024) } END { print size }')
sed "s/^Installed-Size: .*/Installed-Size: $size/" control > content/DEBIAN/control
dpkg-deb --build --root-owner-group -Zgzip content "$folder/${name}_${version}_$debian.deb"
rm -r content/DEBIAN

mv $zsh $share/zsh/site-functions
rm $doc/changelog.gz
find content -type f -printf '/%P\\n' | sort | sed -E '/(copyright|LICENSES\\.txt|PARTY\\.txt|LGPL-[^/]*)$/s/^/%license /' > files
echo "%dir /usr/share/doc/${name}" >> files
rpmbuild -bb --target "$red" --define "_topdir $PWD" --define "_rpmdir $folder" --define '_build_name_fmt %{NVRA}.rpm' spec
`;

/** The time of the archive's files, in the format of a Debian changelog. */
function dateOf(archive) {
  const words = ['-tzf', archive, '--full-time', '-v', '--utc'];
  const [, date, time] = /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)/.exec(execFileSync('tar', words)) ?? [];
  return new Date(`${date}T${time}Z`).toUTCString().replace('GMT', '+0000');
}

/** @param {'x64' | 'arm64'} processor */
export function linuxPackages(archive, processor) {
  const temporary = mkdtempSync(join(tmpdir(), 'restaurant-package-'));
  const [debian, red] = PROCESSORS[processor];
  const env = { ...process.env, archive, debian, red, folder: path('dist/standalone') };
  Object.assign(env, { node: process.execPath, program: path('bin/restaurant.js') });
  try {
    const [summary] = description.split(':');
    const control = { ...manifest, summary, processor: debian, size: 0 };
    writeFileSync(join(temporary, 'control'), fill('control', control));
    writeFileSync(
      join(temporary, 'changelog'),
      fill('debian-changelog', { ...manifest, date: dateOf(archive) }),
    );
    writeFileSync(join(temporary, 'spec'), fill('restaurant.spec', { ...manifest, summary }));
    execFileSync('sh', ['-euc', SCRIPT], { cwd: temporary, env, stdio: ['ignore', 'pipe', 'pipe'] });
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

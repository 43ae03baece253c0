// Creates the .deb and .rpm packages of an archive of scripts/build-standalone.js, with Debian's dpkg-deb and rpmbuild. The same
// archive gives the same packages.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const NAME = 'restaurant-data-cli';
const MAINTAINER = 'The authors of restaurant-data-cli <noreply@users.noreply.github.com>';
/** Names of processors in the archives, in Debian, and in rpm. */
const PROCESSORS = { x64: ['amd64', 'x86_64'], arm64: ['arm64', 'aarch64'] };

/**
 * @param {{archive: string, processor: 'x64' | 'arm64', folder: string, program: string, manifest: object}} from `program`
 * runs on this machine: it prints the completion scripts
 * @returns {string[]} paths of the packages, in `folder`
 */
export function linuxPackages({ archive, processor, folder, program, manifest }) {
  const temporary = mkdtempSync(join(tmpdir(), 'restaurant-package-'));
  const content = join(temporary, 'content');
  const [debian, red] = PROCESSORS[processor];
  try {
    execFileSync('tar', ['-xzf', archive, '-C', temporary]);
    const unpacked = join(temporary, readdirSync(temporary)[0]);
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(statSync(unpacked).mtimeMs / 1000) };
    const run = (command, words) => execFileSync(command, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    layOut(unpacked, content, program);

    const deb = `${NAME}_${manifest.version}_${debian}.deb`;
    mkdirSync(join(content, 'DEBIAN'));
    writeFileSync(join(content, 'DEBIAN/control'), controlOf(manifest, debian));
    run('dpkg-deb', ['--build', '--root-owner-group', '-Zgzip', content, join(folder, deb)]);
    rmSync(join(content, 'DEBIAN'), { recursive: true });

    const rpm = `${NAME}-${manifest.version}-1.${red}.rpm`;
    renameSync(
      join(content, 'usr/share/zsh/vendor-completions'),
      join(content, 'usr/share/zsh/site-functions'),
    );
    const spec = join(temporary, 'package.spec');
    writeFileSync(spec, specOf(manifest, content));
    run('rpmbuild', ['-bb', '--target', red, ...RPM_SETTINGS(temporary), spec]);
    cpSync(join(temporary, red, rpm), join(folder, rpm));
    return [deb, rpm].map((name) => join(folder, name));
  } finally {
    rmSync(temporary, { recursive: true });
  }
}

/** Lays the files of an archive out as in a system. */
function layOut(archive, content, program) {
  const completion = (shell) => execFileSync(process.execPath, [program, 'completion', shell]);
  const read = (name) => readFileSync(join(archive, name));
  const doc = `usr/share/doc/${NAME}`;
  const files = {
    'usr/share/man/man1/restaurant.1.gz': gzipSync(read('restaurant.1'), { level: 9 }),
    'usr/share/bash-completion/completions/restaurant': completion('bash'),
    'usr/share/zsh/vendor-completions/_restaurant': completion('zsh'),
    'usr/share/fish/vendor_completions.d/restaurant.fish': completion('fish'),
    [`${doc}/copyright`]: read('LICENSE'),
    [`${doc}/changelog.gz`]: gzipSync(read('CHANGELOG.md'), { level: 9 }),
  };
  for (const [path, data] of Object.entries(files)) {
    mkdirSync(dirname(join(content, path)), { recursive: true });
    writeFileSync(join(content, path), data);
  }
  for (const name of ['THIRD-PARTY.txt', 'BUN-LICENSES.txt', 'LGPL-2.0.txt', 'LGPL-2.1.txt', 'sbom.cdx.json'])
    cpSync(join(archive, name), join(content, doc, name));
  mkdirSync(join(content, 'usr/bin'));
  cpSync(join(archive, 'restaurant'), join(content, 'usr/bin/restaurant'));
}

const controlOf = ({ version, description, homepage }, processor) => `Package: ${NAME}
Version: ${version}
Architecture: ${processor}
Maintainer: ${MAINTAINER}
Depends: libc6 (>= 2.17)
Section: utils
Priority: optional
Homepage: ${homepage}
Description: ${description}
`;

/** Nothing may change the executable: Bun appends the program to it. */
const RPM_SETTINGS = (folder) =>
  [
    `_topdir ${folder}`,
    `_rpmdir ${folder}`,
    '_buildhost localhost',
    'debug_package %{nil}',
    '_build_id_links none',
    '__os_install_post %{nil}',
    '_binary_payload w6.gzdio',
    'use_source_date_epoch_as_buildtime 1',
    'clamp_mtime_to_source_date_epoch 1',
  ].flatMap((each) => ['--define', each]);

const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .sort();

const specOf = ({ version, description, license, homepage }, content) => `Name: ${NAME}
Version: ${version}
Release: 1
Summary: ${description.split(':')[0]}
License: ${license}
URL: ${homepage}
AutoReqProv: no
Requires: glibc >= 2.17
%description
${description}
%install
cp -a ${content}/. %{buildroot}
%files
${filesIn(content).join('\n')}
`;

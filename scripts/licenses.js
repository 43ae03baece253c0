// Lists the packages in the bundle: their names, versions and licenses, as each package states them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { path } from './project.js';

/** Licenses that only require a copy of their text. */
const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];
const RULE = '-'.repeat(80);

/**
 * Returns the packages that the modules belong to, each once, by name.
 * @param {Iterable<string>} modules absolute paths; those outside packages are ignored
 * @returns {{name: string, version: string, license: string, text: string}[]}
 * @throws {Error} for a package without a text of its license, or with a license that is not permissive
 */
export async function packagesOf(modules) {
  // The innermost `…/node_modules/<name>` or `…/node_modules/@<scope>/<name>`.
  const folders = [...modules].map(
    (file) => /^.*[\\/]node_modules[\\/](@[^\\/]+[\\/])?[^\\/]+/.exec(file)?.[0],
  );
  const packages = [...new Set(folders.filter((folder) => folder !== undefined))].map(readPackage);
  return packages.sort((a, b) => compare(`${a.name} ${a.version}`, `${b.name} ${b.version}`));
}

const compare = (a, b) => (a < b ? -1 : Number(a > b));

function readPackage(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (!PERMISSIVE.includes(license))
    throw new Error(`${name} ${version}: may its license (${license}) be bundled?`);
  const own = readdirSync(folder)
    .sort()
    .find((each) => /^(licen[cs]e|copying)/i.test(each));
  // Texts that packages lack: their own from their repositories, and those of programs compiled to WebAssembly.
  const added = path('scripts/licenses', `${name.replace('/', '+')}.txt`);
  const files = [own && join(folder, own), existsSync(added) && added].filter(Boolean);
  if (files.length === 0)
    throw new Error(`${name} ${version} comes without the text of its license (${license})`);
  const text = files.map((file) => readFileSync(file, 'utf8')).join('\n\n');
  return { name, version, license, text: text.replaceAll('\r\n', '\n').trim() };
}

/** Formats the notice for a bundle. */
export function noticeOf(packages) {
  const parts = packages.map(
    ({ name, version, license, text }) => `\n${RULE}\n${name} ${version} (${license})\n${RULE}\n\n${text}\n`,
  );
  return `This program contains the following packages, each under the license below it.\n${parts.join('')}`;
}

/**
 * Returns the software bill of materials in the CycloneDX format (https://cyclonedx.org/docs/1.6/json/), without times and
 * serial numbers, so that the same build has the same bill.
 */
export const billOf = (program, packages) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { component: component('application', program) },
  components: packages.map((each) => component('library', each)),
});

/** Its address is as in https://github.com/package-url/purl-spec. */
function component(type, { name, version, license }) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { type, 'bom-ref': purl, name, version, licenses: [{ license: { id: license } }], purl };
}

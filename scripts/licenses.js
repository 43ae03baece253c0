// Lists the packages in the bundle: their names, versions and licenses, as each package states them.
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { billOf } from './sbom.js';

/** The files that are shipped with the program. */
const NOTICE = 'THIRD-PARTY.txt';
const BILL = 'sbom.cdx.json';
/** The text in the sources that the build replaces with the list of packages. */
const PLACEHOLDER = 'none, since it runs from its sources';
/** Licenses that only require a copy of their text. */
const PERMISSIVE = ['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT'];
const RULE = '-'.repeat(80);

/**
 * Returns the packages that the modules belong to, each once, by name.
 * @param {Iterable<string>} modules absolute paths; those outside packages are ignored
 * @returns {Promise<{name: string, version: string, license: string, text: string}[]>}
 * @throws {Error} for a package without a text of its license, or with a license that is not permissive
 */
export async function packagesOf(modules) {
  const folders = new Set([...modules].map(folderOf).filter((folder) => folder !== undefined));
  const packages = await Promise.all([...folders].map(readPackage));
  return packages.sort((a, b) => compare(`${a.name} ${a.version}`, `${b.name} ${b.version}`));
}

const compare = (a, b) => (a < b ? -1 : Number(a > b));

/** Returns the innermost `…/node_modules/<name>` or `…/node_modules/@<scope>/<name>`. */
function folderOf(path) {
  const mark = `${sep}node_modules${sep}`;
  const start = path.lastIndexOf(mark);
  if (start < 0) return undefined;
  const words = path.slice(start + mark.length).split(sep);
  return path.slice(0, start) + mark + words.slice(0, words[0].startsWith('@') ? 2 : 1).join(sep);
}

async function readPackage(folder) {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  if (!PERMISSIVE.includes(license))
    throw new Error(`${name} ${version}: may its license (${license}) be bundled?`);
  const own = (await readdir(folder)).sort().find((each) => /^(licen[cs]e|copying)/i.test(each));
  // Texts that packages lack: their own from their repositories, and those of programs compiled to WebAssembly.
  const added = fileURLToPath(new URL(`licenses/${name.replace('/', '+')}.txt`, import.meta.url));
  const files = [own && join(folder, own), existsSync(added) && added].filter(Boolean);
  if (files.length === 0)
    throw new Error(`${name} ${version} comes without the text of its license (${license})`);
  const text = (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('\n\n');
  return { name, version, license, text: text.replaceAll('\r\n', '\n').trim() };
}

/** Formats the notice for a bundle. */
function noticeOf(packages) {
  const parts = packages.map(
    ({ name, version, license, text }) => `${RULE}\n${name} ${version} (${license})\n${RULE}\n\n${text}\n`,
  );
  return ['This program contains the following packages, each under the license below it.\n', ...parts].join(
    '\n',
  );
}

/**
 * Writes the notice and the bill of materials into a built folder, and the list of packages into its program.
 * @throws as {@link packagesOf}
 */
export async function shipLicenses(folder, modules) {
  const packages = await packagesOf(modules);
  await writeFile(join(folder, NOTICE), noticeOf(packages));
  const manifest = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  const bill = billOf(JSON.parse(manifest), packages);
  await writeFile(join(folder, BILL), `${JSON.stringify(bill, undefined, 2)}\n`);
  const list = packages.map(({ name, version, license }) => `${name} ${version} (${license})`).join('\n');
  const literal = JSON.stringify(list).slice(1, -1);
  let found = false;
  for (const name of await readdir(folder, { recursive: true })) {
    if (!/\.[cm]?js$/.test(name)) continue;
    const code = await readFile(join(folder, name), 'utf8');
    if (!code.includes(PLACEHOLDER)) continue;
    await writeFile(join(folder, name), code.replaceAll(PLACEHOLDER, literal));
    found = true;
  }
  if (!found) throw new Error('no built file has a place for the list of packages');
}

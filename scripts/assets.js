// Builds the programs that the program contains as text, in asset.js files: the script and the style of the HTML page, with the
// map library; the worker that runs jq; and the one that reads workbooks and Parquet files.
import { rename, writeFile } from 'node:fs/promises';
import { browserslistToTargets, transform } from 'lightningcss';
import { bundle, CHUNK } from './bundle.js';
import { packagesOf } from './licenses.js';
import { compileOnce } from './plugins.js';
import { path, read } from './project.js';

/** Returns the minified style: Leaflet's, without the images that the page does not use, then ours. */
function buildStyle() {
  const theirs = read('node_modules/leaflet/dist/leaflet.css')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/[^{}]+\{[^{}]*url\([^{}]*\}/g, '');
  const { code } = transform({
    filename: 'page.css',
    code: Buffer.from(theirs + read('src/output/html/browser/page.css')),
    minify: true,
    targets: browserslistToTargets(['chrome 105', 'firefox 110', 'safari 16']),
  });
  return code.toString().trim();
}

/** Builds the module that `--format html` loads. @returns the absolute paths of the bundled modules */
async function makePage() {
  const [{ code, modules }] = await bundle({
    input: 'src/output/html/browser/main.ts',
    platform: 'browser',
    // Leaflet's package.json names only its UMD build.
    resolve: { alias: { leaflet: path('node_modules/leaflet/dist/leaflet-src.esm.js') } },
    transform: { target: ['es2022', 'chrome105', 'firefox110', 'safari16'] },
    // A module of which nothing is used is left out, as the parser behind util/json.ts.
    treeshake: { moduleSideEffects: false },
    output: { format: 'iife', minify: true, comments: false },
    write: false,
  });
  const packages = await packagesOf(Object.keys(modules));
  // The licenses require that their text is part of every copy.
  const licenses = packages.map(({ name, version, text }) => `${name} ${version}\n\n${text}`);
  const script = `/*!\n${licenses.join('\n\n')}\n*/\n${code.trim()}`;
  const style = buildStyle();
  for (const part of [script, style]) {
    if (/<\/(?:script|style)|<!--/i.test(part)) throw new Error('the page cannot contain its own program');
  }
  await writeAsset('src/output/html', { script, style });
  return Object.keys(modules);
}

/** Changes in jq-wasm, each of a text that occurs once: its output has no limit, and it invents an environment. */
const CHANGES = [
  [
    'push(byte) {',
    'push(byte) { if (length > 2 ** 28) return; if (length === 2 ** 28) globalThis.onOutputLimit();',
  ],
  [/var env = \{ USER: [^}]*\};/, 'var env = {};'],
];

const limitJq = {
  name: 'limit-jq',
  transform: {
    filter: { id: /jq-wasm[\\/].*inline\.[cm]js$/ },
    handler: (source) =>
      CHANGES.reduce((code, [from, to]) => {
        if (code.split(from).length !== 2) throw new Error(`jq-wasm has changed: ${from}`);
        return code.replace(from, to);
      }, source),
  },
};

/** Builds a module with the program of a worker. @returns the absolute paths of the bundled modules */
async function makeWorker(input, folder, plugins) {
  const [{ code, modules }] = await bundle({ input, plugins, output: CHUNK, write: false });
  // lazy-modules.js would change how a program that is text loads modules, too; it looks for this prefix.
  await writeAsset(folder, { worker: code.replaceAll(/\brequire\((["'`])node:/g, 'require($1') });
  return Object.keys(modules);
}

/** Writes texts as a module. */
async function writeAsset(folder, texts) {
  const file = path(folder, 'asset.js');
  const lines = Object.entries(texts).map(
    ([name, text]) => `export const ${name} = ${JSON.stringify(text)};\n`,
  );
  await writeFile(`${file}-${process.pid}`, lines.join(''));
  await rename(`${file}-${process.pid}`, file);
}

/** @returns the absolute paths of the bundled modules */
export const makeAssets = async () => [
  ...(await makePage()),
  ...(await makeWorker('src/output/jq/worker.ts', 'src/output/jq', [limitJq, compileOnce])),
  ...(await makeWorker('src/lists/read/typed-worker.ts', 'src/lists/read', [])),
];

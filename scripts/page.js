// Builds src/output/html/asset.js: the script and the style of the HTML page, with the map library, as two strings.
import { readFile } from 'node:fs/promises';
import { browserslistToTargets, transform } from 'lightningcss';
import { bundle, writeAsset } from './bundle.js';
import { packagesOf } from './licenses.js';
import { path } from './project.js';

const source = path('src/output/html/browser');
const leaflet = path('node_modules/leaflet/dist');

/** Bundles and minifies the browser program. @returns its code and the absolute paths of its modules */
async function buildScript() {
  const [{ code, modules }] = await bundle({
    input: `${source}/main.ts`,
    platform: 'browser',
    // Leaflet's package.json names only its UMD build.
    resolve: { alias: { leaflet: `${leaflet}/leaflet-src.esm.js` } },
    transform: { target: ['es2022', 'chrome105', 'firefox110', 'safari16'] },
    output: { format: 'iife', minify: true, comments: false },
    write: false,
  });
  return { code: code.trim(), modules: Object.keys(modules) };
}

/** Returns the minified style: Leaflet's, without the images that the page does not use, then ours. */
async function buildStyle() {
  const [theirs, ours] = await Promise.all(
    [`${leaflet}/leaflet.css`, `${source}/page.css`].map((file) => readFile(file, 'utf8')),
  );
  const withoutImages = theirs.replace(/\/\*[\s\S]*?\*\//g, '').replace(/[^{}]+\{[^{}]*url\([^{}]*\}/g, '');
  const { code } = transform({
    filename: 'page.css',
    code: Buffer.from(withoutImages + ours),
    minify: true,
    targets: browserslistToTargets(['chrome 105', 'firefox 110', 'safari 16']),
  });
  return code.toString().trim();
}

/** Writes the module that `--format html` loads. @returns the absolute paths of the bundled modules */
export async function makePage() {
  const [{ code, modules }, style] = await Promise.all([buildScript(), buildStyle()]);
  // The licenses require that their text is part of every copy.
  const licenses = (await packagesOf(modules)).map(
    ({ name, version, text }) => `${name} ${version}\n\n${text}`,
  );
  const script = `/*!\n${licenses.join('\n\n')}\n*/\n${code}`;
  for (const part of [script, style]) {
    if (/<\/(?:script|style)|<!--/i.test(part)) throw new Error('the page cannot contain its own program');
  }
  await writeAsset('html', { script, style });
  return modules;
}

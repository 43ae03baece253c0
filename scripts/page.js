// Makes src/output/html/asset.js: the program and the looks of the HTML page, with the map library, as two texts.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { modulesOf } from './licences.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = `${root}src/output/html/asset.js`;

/** The libraries in it; their licences ask to stand in every copy. */
const LIBRARIES = ['leaflet', 'supercluster', 'kdbush'];

/** The map library as an ES module, and its style without the pictures, which the page does not use. */
const leaflet = {
  name: 'leaflet',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^leaflet$/ }, () => ({
      path: `${root}node_modules/leaflet/dist/leaflet-src.esm.js`,
    }));
    onLoad({ filter: /leaflet\.css$/ }, async ({ path }) => {
      const css = (await readFile(path, 'utf8')).replace(/\/\*[\s\S]*?\*\//g, '');
      return { contents: css.replace(/[^{}]+\{[^{}]*url\([^{}]*\}/g, ''), loader: 'css' };
    });
  },
};

async function licences() {
  const texts = LIBRARIES.map(async (name) => {
    const { version } = JSON.parse(await readFile(`${root}node_modules/${name}/package.json`, 'utf8'));
    return `${name} ${version}\n\n${(await readFile(`${root}node_modules/${name}/LICENSE`, 'utf8')).replaceAll('\r', '').trim()}`;
  });
  return `/*!\n${(await Promise.all(texts)).join('\n\n')}\n*/`;
}

/** Writes the module that `--format html` loads. @returns the modules that went into it */
export async function makePage() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/page/main.ts', 'src/page/page.css'],
    outdir: 'page',
    bundle: true,
    write: false,
    metafile: true,
    format: 'iife',
    platform: 'browser',
    target: ['es2022', 'chrome105', 'firefox110', 'safari16'],
    plugins: [leaflet],
    minify: true,
    charset: 'ascii',
    legalComments: 'none',
    logLevel: 'warning',
  });
  const text = (ending) => outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? '';
  const script = `${await licences()}\n${text('.js')}`;
  for (const part of [script, text('.css')]) {
    // It stands in an element of a page, which these would end.
    if (/<\/(?:script|style)|<!--/i.test(part)) throw new Error('the page cannot hold its own program');
  }
  const module = `// Made by scripts/page.js.\nexport const script = ${JSON.stringify(script)};\nexport const style = ${JSON.stringify(text('.css'))};\n`;
  const aside = `${target}-${process.pid}`;
  await writeFile(aside, module);
  await rename(aside, target);
  return modulesOf(metafile, root);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await makePage();

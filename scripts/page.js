// Makes src/output/html/asset.js: the program and the looks of the HTML page, with the map library, as two texts.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { modulesOf, packagesOf } from './licences.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = `${root}src/output/html/asset.js`;

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

/** The libraries in it; their licences ask to stand in every copy. */
async function licences(modules) {
  const texts = (await packagesOf(modules)).map(({ name, version, text }) => `${name} ${version}\n\n${text}`);
  return `/*!\n${texts.join('\n\n')}\n*/`;
}

/** Writes the module that `--format html` loads. @returns the modules that went into it */
export async function makePage() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['src/output/html/browser/main.ts', 'src/output/html/browser/page.css'],
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
  const modules = modulesOf(metafile, root);
  const text = (ending) => outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? '';
  const script = `${await licences(modules)}\n${text('.js')}`;
  for (const part of [script, text('.css')]) {
    // It stands in an element of a page, which these would end.
    if (/<\/(?:script|style)|<!--/i.test(part)) throw new Error('the page cannot hold its own program');
  }
  const module = `// Made by scripts/page.js.\nexport const script = ${JSON.stringify(script)};\nexport const style = ${JSON.stringify(text('.css'))};\n`;
  const aside = `${target}-${process.pid}`;
  await writeFile(aside, module);
  await rename(aside, target);
  return modules;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await makePage();

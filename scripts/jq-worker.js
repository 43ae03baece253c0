// Builds src/output/jq/asset.js: the program of the worker that runs jq, as a string.
import { bundle, CHUNK, writeAsset } from './bundle.js';
import { compileOnce } from './plugins.js';

/**
 * Changes in jq-wasm, each of a text that occurs once: its input and output copy all bytes for each byte, and it invents
 * an environment.
 */
const CHANGES = [
  [
    /FS\.init\(\(\) => \{[\s\S]*?\}\); \}, raw\(/,
    'FS.init(moduleArg.stdin, moduleArg.stdout, moduleArg.stderr); }, raw(',
  ],
  [/var env = \{ USER: [^}]*\};/, 'var env = {};'],
];

const ownStreams = {
  name: 'own-streams',
  transform: {
    filter: { id: /jq-wasm[\\/].*jq\.js$/ },
    handler: (source) =>
      CHANGES.reduce((code, [from, to]) => {
        if (code.split(from).length !== 2) throw new Error(`jq-wasm has changed: ${from}`);
        return code.replace(from, to);
      }, source),
  },
};

/** Writes the module that `--jq` loads. @returns the absolute paths of the bundled modules */
export async function makeJqWorker() {
  const [{ code, modules }] = await bundle({
    input: 'src/output/jq/worker.ts',
    plugins: [ownStreams, compileOnce],
    output: CHUNK,
    write: false,
  });
  await writeAsset('jq', { worker: code });
  return Object.keys(modules);
}

// Replaces the string-width of cli-table3: it is outdated and measures some emoji and combining marks differently.
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A rolldown plugin that replaces `string-width` inside cli-table3 by `width` of src/util/text.ts. */
export const tableWidths = {
  name: 'table-widths',
  resolveId: {
    filter: { id: /^string-width$/ },
    handler: (_id, importer) =>
      /[\\/]cli-table3[\\/]/.test(importer ?? '') ? '\0table-width.cjs' : undefined,
  },
  load: {
    filter: { id: /^\0table-width\.cjs$/ },
    handler: () => `module.exports = require(${JSON.stringify(`${root}src/util/text.ts`)}).width;`,
  },
};

/** Bundles cli-table3 as the built program has it, for the tests. @returns the path of the bundle */
export async function bundleTable() {
  const file = `${root}node_modules/.cache/cli-table3.mjs`;
  const bundle = await rolldown({
    cwd: root,
    input: 'cli-table3',
    platform: 'node',
    plugins: [tableWidths],
    resolve: { mainFields: ['module', 'main'] },
  });
  await bundle.write({ format: 'esm', file });
  await bundle.close();
  return file;
}

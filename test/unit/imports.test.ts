import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

/** The folders that a folder may import, in addition to itself, `errors`, `context`, `version` and types of the service. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  start: ['main', 'compile-cache', 'storage', 'util'],
  'compile-cache': ['storage'],
  main: ['run', 'streams', 'prompt'],
  // The entry for other programs.
  library: ['client'],
  program: ['cli', 'commands', 'app'],
  commands: ['sandbox', 'cli', 'app', 'enrich', 'mcp', 'client', 'storage', 'settings', 'output', 'util'],
  enrich: ['app', 'client', 'storage', 'settings', 'output', 'sandbox', 'util'],
  mcp: ['app', 'client', 'storage', 'settings', 'output', 'util'],
  app: ['client', 'storage', 'shared-state', 'settings', 'output', 'sandbox'],
  run: ['program', 'cli', 'commands', 'app', 'settings', 'storage', 'output'],
  cli: ['settings', 'storage', 'app', 'output'],
  client: [],
  settings: ['client', 'storage', 'output', 'util'],
  storage: ['client', 'util', 'settings'],
  'shared-state': ['client', 'storage', 'util'],
  browser: ['output'],
  output: ['util'],
  sandbox: [],
  streams: [],
  prompt: [],
  util: [],
  version: [],
  errors: [],
  hint: [],
  context: [],
};
const IMPORTED_BY_ALL = ['errors', 'hint', 'context', 'version', 'util'];
const IMPORT_ONLY_ERRORS: readonly string[] = ['errors', 'hint', 'context', 'version', 'util'];

/** The files or folders that may import each library. */
const ALLOWED_IMPORTERS: Readonly<Record<string, readonly string[]>> = {
  leaflet: ['output/html/browser/'],
  supercluster: ['output/html/browser/map.ts'],
  undici: [
    'client/http/transport.ts',
    'client/http/dispatcher.ts',
    'client/http/tunnel.ts',
    'client/http/undici-parts.d.ts',
  ],
  'undici/lib/api/api-connect.js': ['client/http/tunnel.ts'],
  'undici/lib/core/connect.js': ['client/http/dispatcher.ts'],
  'undici/lib/core/errors.js': ['client/http/dispatcher.ts'],
  'undici/lib/dispatcher/agent.js': ['client/http/dispatcher.ts'],
  'undici/lib/dispatcher/pool.js': ['client/http/tunnel.ts'],
  'undici/lib/core/socks5-client.js': ['client/http/tunnel.ts'],
  conf: ['storage/config-file.ts'],
  '@redis/client': ['shared-state/'],
  chalk: ['output/style.ts'],
  'cli-table3': ['output/table.ts'],
  'jq-wasm/dist/build/jq.js': ['output/jq/worker.ts'],
  commander: ['cli/', 'run.ts'],
  'eventsource-parser': ['client/http/body.ts'],
  'string-width': ['util/text.ts'],
  '@decimalturn/toml-patch': ['mcp/'],
  ajv: ['commands/call/validate.ts'],
  'ajv/dist/2020.js': ['commands/call/validate.ts'],
  '@noble/hashes/sha2.js': ['util/sha256.ts'],
  '@noble/hashes/utils.js': ['util/sha256.ts'],
  yauzl: ['enrich/read/xlsx/archive.ts'],
  yazl: ['output/xlsx.ts'],
  'hyparquet-writer': ['output/parquet.ts'],
  saxen: ['enrich/read/xlsx/xml.ts'],
  'jsonc-parser': ['util/json.ts', 'mcp/'],
};

interface Import {
  readonly file: string;
  readonly target: string;
  readonly type: boolean;
}

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(sep).join('/'))
  .filter((file) => file.endsWith('.ts'));

const imports: Import[] = files.flatMap((file) => {
  const text = readFileSync(join(SRC, file), 'utf8');
  const found = text.matchAll(/(?:^(?:import|export)\s+(type\s)?[^;]*?from\s+|\bimport\()'([^']+)'/gm);
  return [...found].map(([, type, target = '']) => ({ file, target, type: type !== undefined }));
});

const roomOf = (file: string): string =>
  file.startsWith('output/html/browser/')
    ? 'browser'
    : file.includes('/')
      ? (file.split('/')[0] ?? '')
      : file.replace(/\.ts$/, '');

const inner = imports
  .filter(({ target }) => target.startsWith('.') && target.endsWith('.ts'))
  .map((one) => ({
    ...one,
    target: normalize(join(dirname(one.file), one.target))
      .split(sep)
      .join('/'),
  }));

describe('imports', () => {
  it('finds the sources', () => {
    expect(files.length).toBeGreaterThan(60);
    expect(inner.length).toBeGreaterThan(150);
  });

  it('go in one direction', () => {
    const wrong = inner.filter(({ file, target, type }) => {
      const from = roomOf(file);
      const to = roomOf(target);
      if (from === to) return false;
      if (IMPORTED_BY_ALL.includes(to))
        return IMPORT_ONLY_ERRORS.includes(from) && !['errors', 'hint'].includes(to);
      // Types of the service create no dependency on the code of the client.
      if (type && target === 'client/types.ts') return false;
      return !(MAY_IMPORT[from] ?? []).includes(to);
    });
    expect(wrong.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  it('of the HTML page contain only the page and helpers', () => {
    const wrong = inner.filter(
      ({ file, target }) =>
        roomOf(file) === 'browser' &&
        !['browser', 'util'].includes(roomOf(target)) &&
        target !== 'output/html/document.ts',
    );
    expect(wrong).toEqual([]);
    expect(
      inner.filter(({ file, target }) => roomOf(file) !== 'browser' && roomOf(target) === 'browser'),
    ).toEqual([]);
  });

  it('form no cycles, types included', () => {
    const open = new Map(files.map((file) => [file, new Set<string>()]));
    for (const { file, target } of inner) if (open.has(target)) open.get(file)?.add(target);
    // Removes files whose imports are all removed: what remains is part of a cycle, or imports one.
    for (let size = -1; size !== open.size; ) {
      size = open.size;
      for (const [file, targets] of open) {
        if ([...targets].every((target) => !open.has(target))) open.delete(file);
      }
    }
    expect([...open.keys()]).toEqual([]);
  });

  it('never go from one command to another', () => {
    const wrong = inner.filter(
      ({ file, target }) => /^commands\/[^/]+$/.test(file) && /^commands\/[^/]+$/.test(target),
    );
    expect(wrong).toEqual([]);
  });

  it('of a library are in the files that may import it', () => {
    const wrong = imports.filter(({ file, target }) => {
      if (target.startsWith('.') || target.startsWith('node:')) return false;
      return !(ALLOWED_IMPORTERS[target] ?? []).some(
        (importer) => file === importer || (importer.endsWith('/') && file.startsWith(importer)),
      );
    });
    expect(wrong.map(({ file, target }) => `${file} → ${target}`)).toEqual([]);
  });

  it('do not include process, except in main.ts and start.ts', () => {
    const readers = files.filter((file) => {
      const text = readFileSync(join(SRC, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      return /\bprocess\.(env|argv|stdout|stderr|stdin|exit|cwd|on)\b/.test(text);
    });
    expect(readers.toSorted()).toEqual(['main.ts', 'start.ts']);
  });
});

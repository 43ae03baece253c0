import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

const SHARED = ['errors', 'hint', 'context', 'version', 'util'];
const BROWSER = 'output/html/browser';

/** The folders and files that each may import, in addition to itself, SHARED, and types of the service. Others: none. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  start: ['main', 'compile-cache', 'storage'],
  'compile-cache': ['storage'],
  main: ['run', 'streams', 'prompt'],
  // The entry for other programs.
  library: ['client'],
  program: ['cli', 'commands', 'app'],
  commands: ['sandbox', 'cli', 'app', 'lists', 'mcp', 'client', 'storage', 'settings', 'output'],
  lists: ['app', 'client', 'storage', 'settings', 'output', 'sandbox'],
  mcp: ['app', 'client', 'storage', 'settings', 'output'],
  app: ['client', 'storage', 'shared-state', 'settings', 'output', 'sandbox'],
  run: ['program', 'cli', 'commands', 'app', 'settings', 'storage', 'output'],
  cli: ['settings', 'storage', 'app', 'output'],
  settings: ['client', 'storage', 'output'],
  storage: ['client', 'settings'],
  'shared-state': ['client', 'storage'],
  [BROWSER]: ['output/html/document'],
};

/** The files or folders that may import each library. */
const ALLOWED_IMPORTERS: Readonly<Record<string, readonly string[]>> = {
  leaflet: ['output/html/browser/'],
  supercluster: ['output/html/browser/map.ts'],
  undici: ['client/http/'],
  conf: ['storage/config-file.ts'],
  '@redis/client': ['shared-state/'],
  chalk: ['output/style.ts'],
  'cli-table3': ['output/table.ts'],
  'jq-wasm': ['output/jq/worker.ts'],
  commander: ['cli/', 'run.ts'],
  'eventsource-parser': ['client/http/body.ts'],
  'string-width': ['util/text.ts'],
  '@decimalturn/toml-patch': ['mcp/'],
  ajv: ['commands/call/validate.ts'],
  '@noble/hashes': ['util/sha256.ts'],
  yauzl: ['lists/read/xlsx/archive.ts'],
  yazl: ['output/xlsx.ts'],
  'hyparquet-writer': ['output/parquet.ts'],
  hyparquet: ['lists/read/parquet.ts'],
  saxen: ['lists/read/xlsx/xml.ts'],
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

/** The room of `cli/tree.ts` is `cli`, that of `run.ts` is `run`. */
const roomOf = (file: string): string =>
  file.startsWith(BROWSER) ? BROWSER : (file.split('/')[0] ?? '').replace(/\.ts$/, '');

function mayImport(from: string, target: string): boolean {
  const rooms = SHARED.includes(from) ? ['errors', 'hint'] : [...SHARED, ...(MAY_IMPORT[from] ?? [])];
  return rooms.some((room) => target === `${room}.ts` || target.startsWith(`${room}/`));
}

const asText = (wrong: readonly Import[]): string[] => wrong.map(({ file, target }) => `${file} → ${target}`);

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

  it('go in one direction, and only the page contains code for browsers', () => {
    const wrong = inner.filter(({ file, target, type }) => {
      const [from, to] = [roomOf(file), roomOf(target)];
      // Types of the service create no dependency on the code of the client.
      if (from === to || (type && target === 'client/types.ts')) return false;
      return to === BROWSER || !mayImport(from, target);
    });
    expect(asText(wrong)).toEqual([]);
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
    const isCommand = (file: string): boolean => /^commands\/[^/]+$/.test(file);
    const wrong = inner.filter(({ file, target }) => isCommand(file) && isCommand(target));
    expect(asText(wrong)).toEqual([]);
  });

  it('of a library are in the files that may import it', () => {
    const wrong = imports.filter(({ file, target }) => {
      if (target.startsWith('.') || target.startsWith('node:')) return false;
      const [name = ''] = /^(@[^/]+\/)?[^/]+/.exec(target) ?? [];
      return !(ALLOWED_IMPORTERS[name] ?? []).some(
        (importer) => file === importer || (importer.endsWith('/') && file.startsWith(importer)),
      );
    });
    expect(asText(wrong)).toEqual([]);
  });

  it('do not include process, except in main.ts and start.ts', () => {
    const readers = files.filter((file) => {
      const text = readFileSync(join(SRC, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      return /\bprocess\.(env|argv|stdout|stderr|stdin|exit|cwd|on)\b|\} = process\b/.test(text);
    });
    expect(readers.toSorted()).toEqual(['main.ts', 'start.ts']);
  });
});

/** Functions of `node:fs` that neither open nor change a file by its name. */
const HARMLESS =
  /^(?:accessSync|closeSync|constants|existsSync|fstatSync|lstatSync|readdirSync|readSync|realpathSync|statSync|writeSync|type \w+)$/;
/** Files outside of `storage/` that read files of the program itself, and no file that the user names. */
const OWN_READERS = ['app/page.ts', 'app/program-path.ts', 'compile-cache.ts'];

it('only storage/ opens files, by the one rule for those that the user names', () => {
  const openers = files.filter((file) => {
    const text = readFileSync(join(SRC, file), 'utf8');
    const names = [...text.matchAll(/import \{([^}]*)\} from 'node:fs'/g)].flatMap(([, list = '']) =>
      list.split(',').map((name) => name.trim()),
    );
    const isOther = /'node:fs\/|'fs'|(?:import|require)\('node:fs|\* as \w+ from 'node:fs/.test(text);
    return isOther || names.some((name) => name !== '' && !HARMLESS.test(name));
  });
  expect(openers.filter((file) => !file.startsWith('storage/')).toSorted()).toEqual(OWN_READERS);
});

/** Expressions in templates with a command: words of ours that need no quotes. All other commands are data (hint.ts). */
const OWN_WORDS: readonly string[] = ['keys.paid', 'base_url', "problem ?? 'restaurant login'"];

/** Returns the expressions in templates that contain a command of this program. */
function expressionsOfCommands(text: string): string[] {
  const templates = text.match(/`(?:[^`\\]|\\.)*`/gs) ?? [];
  return templates
    .filter((template) =>
      /\brestaurant (?:find|lookup|call|raw|tools|enrich|config|login|status|mcp|skill)\b/.test(template),
    )
    .flatMap((template) =>
      [...template.matchAll(/(?<!\\)\$\{([^{}]*)\}/g)].map(([, expression = '']) => expression.trim()),
    );
}

/** The sandbox shares no code with the client, but the terms of the protocol. */
const TWICE = /^(?:sandbox\/|.*\.d\.ts$)/;

it('an exported name has one meaning', () => {
  const places = new Map<string, string[]>();
  for (const file of files.filter((each) => !TWICE.test(each))) {
    const text = readFileSync(join(SRC, file), 'utf8');
    const found = text.matchAll(/^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/gm);
    for (const [, name = ''] of found) places.set(name, [...(places.get(name) ?? []), file]);
  }
  expect([...places].filter(([, all]) => new Set(all).size > 1)).toEqual([]);
});

it('a command in a message contains no text from outside', () => {
  const outside = files
    .filter((file) => !file.includes('browser'))
    .flatMap((file) =>
      expressionsOfCommands(readFileSync(join(SRC, file), 'utf8'))
        .filter((expression) => !OWN_WORDS.includes(expression))
        .map((expression) => `${file}: ${expression}`),
    );
  expect(outside).toEqual([]);
});

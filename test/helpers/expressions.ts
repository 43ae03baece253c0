import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { parseAst } from 'rolldown/parseAst';

export interface Expression {
  /** File and line. */
  readonly where: string;
  readonly source: string;
  readonly flags: string;
}

const SRC = join(import.meta.dirname, '../../src');

/** Arguments of the functions that build an expression. */
const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'client/key.ts': { start: 'sk_service_' },
  'output/render/lookup.ts': { room: 40 },
  'storage/cache.ts': { account: 'a', namePrefix: () => `${'0'.repeat(16)}-` },
  'storage/config-file.ts': { target: '/home/config.json', basename },
  'util/csv.ts': { delimiter: ',' },
};

type Node = Readonly<Record<string, unknown>> & { readonly start: number; readonly end: number };

function* nodesOf(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return;
  if ('type' in value) yield value as unknown as Node;
  for (const part of Object.values(value)) yield* nodesOf(part);
}

interface Module {
  readonly file: string;
  readonly text: string;
  readonly nodes: readonly Node[];
}

function readModule(file: string): Module {
  const text = readFileSync(join(SRC, file), 'utf8');
  return { file, text, nodes: [...nodesOf(parseAst(text, { lang: 'ts' }))] };
}

const nameOf = (node: unknown): unknown => (node as { readonly name?: unknown } | undefined)?.name;

/** Evaluates code of a module that only needs constants, of this module or imported ones, and the ARGUMENTS. */
function evaluate(module: Module, { start, end }: Node): unknown {
  const names = new Proxy(ARGUMENTS[module.file] ?? {}, {
    has: (_target, name) => !(name in globalThis),
    get: (own, name) => (name in own ? own[String(name)] : constant(module, name)),
  });
  return new Function('names', `with (names) { return (${module.text.slice(start, end)}); }`)(names);
}

function constant(module: Module, name: string | symbol): unknown {
  if (name === Symbol.unscopables) return undefined;
  const own = module.nodes.find(({ type, id }) => type === 'VariableDeclarator' && nameOf(id) === name);
  if (own !== undefined) return evaluate(module, own.init as Node);
  for (const { type, specifiers, source } of module.nodes) {
    if (type !== 'ImportDeclaration' || !(specifiers as Node[]).some(({ local }) => nameOf(local) === name))
      continue;
    const { value } = source as { readonly value: string };
    return constant(readModule(join(dirname(module.file), value)), name);
  }
  throw new ReferenceError(`${module.file}: ${String(name)} is neither a constant nor in ARGUMENTS`);
}

const isRegExp = (node: unknown): boolean => nameOf(node) === 'RegExp';

/** Every regular expression of the source: the literal ones, and those that are built. */
export function readExpressions(): Expression[] {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll(sep, '/'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'));
  return files.sort().flatMap((file) => {
    const module = readModule(file);
    return module.nodes.flatMap((node): Expression[] => {
      const where = `${file}:${module.text.slice(0, node.start).split('\n').length}`;
      if (node.regex !== undefined) {
        const { pattern, flags } = node.regex as { readonly pattern: string; readonly flags: string };
        return [{ where, source: pattern, flags }];
      }
      if (!(node.type === 'NewExpression' || node.type === 'CallExpression') || !isRegExp(node.callee))
        return [];
      const { source, flags } = evaluate(module, node) as RegExp;
      return [{ where, source, flags }];
    });
  });
}

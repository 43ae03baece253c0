// Defers slow work until first use, because most commands do not need it.

/**
 * Libraries that few runs need: the position of an error in JSON, exact numbers, colors. jsonc-parser creates 340 KB of
 * strings when it is loaded.
 */
export const ON_FIRST_USE = ['chalk', 'jsonc-parser'];

/**
 * A call that loads one of these libraries, or a built-in module that not every run needs. A function cannot be deferred.
 * The worker of jq, which is a text in a chunk, loads worker_threads.
 */
const REQUIRE = new RegExp(
  `\\brequire\\((["'\`])(node:(?!(?:assert|buffer|events|fs|path|url|util|worker_threads)\\1)[\\w/]+|[\\w./]+/(?:${ON_FIRST_USE.join('|')})-[^"'\`]+)\\1\\)`,
  'g',
);
// Copying the module (the interoperation of `import * as`) loads it at once.
const HELPER = `const __onUse=(load,found)=>{
const all=()=>found??=load();
const get=(_,key)=>all()[key];
const has=(_,key)=>key in all();
const one=(_,key)=>has(_,key)?{configurable:true,enumerable:true,get:()=>get(_,key)}:undefined;
return new Proxy({},{get,has,ownKeys:()=>Reflect.ownKeys(all()),getOwnPropertyDescriptor:one});
};`;

/** Changes a chunk so that it loads slow built-in modules and these libraries on first use. @returns its new code */
export function lazyModules(code) {
  const lazy = code.replace(REQUIRE, (call) => `__onUse(()=>${call})`);
  return lazy === code ? code : `${HELPER}${lazy}`;
}

/** An export of a chunk, as rolldown writes it. */
const EXPORT =
  /Object\.defineProperty\(exports,(["'`])([\w$]+)\1,\{enumerable:!0,get:function\(\)\{return ?([^{}]+)\}\}\)[,;]/g;

/** With fewer exports, it makes no difference. */
const MANY = 10;

/**
 * Changes a chunk with many exports so that they are defined at once: V8 creates a class from a template, but copies the
 * descriptors of an object for each property that is added. @returns its new code
 */
export function quickExports(code) {
  const getters = [...code.matchAll(EXPORT)].map(([, , name, value]) => `get ${name}(){return ${value}}`);
  return getters.length < MANY
    ? code
    : `${code.replace(EXPORT, '').trimEnd()}Object.setPrototypeOf(exports,new class{${getters.join('')}});`;
}

/** Constants that take long to create: a segmenter 14 ms, the set of all emoji 22 ms, a pattern of twelve scripts 8 ms. */
const SLOW_CONSTANT =
  /^const (\w+) = (new Intl\.Segmenter\(.*\)|\/.*\\p\{RGI_Emoji\}.*\/v|new RegExp\([^;]*\\p\{[^;]*\));$/gm;

/** Creates these constants on first use, because plain text does not need them. */
export const lazyConstants = {
  name: 'lazy-constants',
  transform: {
    filter: { code: /new Intl\.Segmenter\(|\\p\{RGI_Emoji\}/ },
    handler(code, id) {
      if (!SLOW_CONSTANT.test(code)) throw new Error(`${id} creates its segmenter or its emoji in a new way`);
      return code.replace(
        SLOW_CONSTANT,
        `const $1 = {
          get value() { return (this.made ??= $2); },
          segment(text) { return this.value.segment(text); },
          test(text) { return this.value.test(text); },
          [Symbol.replace](text, by) { return text.replace(this.value, by); },
        };`,
      );
    },
  },
};

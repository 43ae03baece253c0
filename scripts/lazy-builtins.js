// Defers slow work until first use, because most commands do not need it.

const SLOW = [
  'child_process',
  'crypto',
  'fs/promises',
  'http2',
  'net',
  'os',
  'readline',
  'timers/promises',
  'tls',
  'tty',
  'v8',
  'vm',
  'zlib',
];
const REQUIRE = new RegExp(`\\brequire\\((["'\`])node:(${SLOW.join('|')})\\1\\)`, 'g');
// Copying the module (the interoperation of `import * as`) loads it at once.
const HELPER = `const __onUse=(id,found)=>{
const all=()=>found??=require(id);
const get=(_,key)=>all()[key];
const has=(_,key)=>key in all();
const one=(_,key)=>has(_,key)?{configurable:true,enumerable:true,get:()=>get(_,key)}:undefined;
return new Proxy({},{get,has,ownKeys:()=>Reflect.ownKeys(all()),getOwnPropertyDescriptor:one});
};`;

/** Makes a chunk load slow built-in modules on first use. @returns its new code */
export function lazyBuiltins(code) {
  const lazy = code.replace(REQUIRE, '__onUse("node:$2")');
  return lazy === code ? code : `${HELPER}${lazy}`;
}

/** Constants that take long to create: a segmenter 14 ms, the set of all emoji 22 ms, a pattern of twelve scripts 8 ms. */
const SLOW_CONSTANT =
  /^const (\w+) = (new Intl\.Segmenter\(.*\)|\/.*\\p\{RGI_Emoji\}.*\/v|new RegExp\([^;]*\\p\{[^;]*\));$/gm;

/** A rolldown plugin that creates such constants on first use: plain text needs none of them. */
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

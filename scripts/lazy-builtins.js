// Postpones work that takes milliseconds and is not always needed: it happens on first use.

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

const SEGMENTER = /^const (\w+) = new Intl\.Segmenter\((.*)\);$/gm;

/** A rolldown plugin that creates segmenters on first use: each takes 10 ms, and plain text needs none. */
export const lazySegmenters = {
  name: 'lazy-segmenters',
  transform: {
    filter: { code: 'new Intl.Segmenter(' },
    handler(code, id) {
      if (!SEGMENTER.test(code)) throw new Error(`${id} creates its segmenter in a new way`);
      return code.replace(
        SEGMENTER,
        'const $1 = { made: undefined, segment(text) { return (this.made ??= new Intl.Segmenter($2)).segment(text); } };',
      );
    },
  },
};

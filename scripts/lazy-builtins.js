// What costs milliseconds to load or to make, and is not always used: asked for on first use.

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
// Whoever copies the module (the interoperation of `import * as`) loads it at once, and has all of it.
const HELPER = `const __onUse=(id,found)=>{
const all=()=>found??=require(id);
const get=(_,key)=>all()[key];
const has=(_,key)=>key in all();
const one=(_,key)=>has(_,key)?{configurable:true,enumerable:true,get:()=>get(_,key)}:undefined;
return new Proxy({},{get,has,ownKeys:()=>Reflect.ownKeys(all()),getOwnPropertyDescriptor:one});
};`;

/** The chunk's text with its slow modules loaded on first use. */
export function lazyBuiltins(code) {
  const lazy = code.replace(REQUIRE, '__onUse("node:$2")');
  return lazy === code ? code : `${HELPER}${lazy}`;
}

const SEGMENTER = /^const (\w+) = new Intl\.Segmenter\((.*)\);$/gm;

/** For the bundler: a segmenter takes 12 ms to make, and plain text needs none; it is made on first use. */
export const lazySegmenters = {
  name: 'lazy-segmenters',
  transform: {
    filter: { code: 'new Intl.Segmenter(' },
    handler(code, id) {
      if (!SEGMENTER.test(code)) throw new Error(`${id} makes its segmenter in another way now`);
      return code.replace(
        SEGMENTER,
        'const $1 = { made: undefined, segment(text) { return (this.made ??= new Intl.Segmenter($2)).segment(text); } };',
      );
    },
  },
};

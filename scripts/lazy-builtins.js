// Node's own modules cost milliseconds each to load. A chunk that may use one asks for it when it does.

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

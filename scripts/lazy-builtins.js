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
  'v8',
  'vm',
  'zlib',
];
const REQUIRE = new RegExp(`\\brequire\\((["'\`])node:(${SLOW.join('|')})\\1\\)`, 'g');
const HELPER = 'const __onUse=(id,found)=>new Proxy({},{get:(_,key)=>(found??=require(id))[key]});';

/** The chunk's text with its slow modules loaded on first use. */
export function lazyBuiltins(code) {
  const lazy = code.replace(REQUIRE, '__onUse("node:$2")');
  return lazy === code ? code : `${HELPER}${lazy}`;
}

import { describe, expect, it } from 'vitest';
import { fewOrAll } from '../helpers/full.ts';
import { useService } from '../helpers/service.ts';
import { useProgram } from './support.ts';

const service = useService({ auth: false, perMinute: 0 });
const { run, home } = useProgram(() => service.sandbox.baseUrl);
const env = { RESTAURANT_PER_MINUTE: '0' };

const MEGABYTE = 1024 * 1024;
const BINARY = Buffer.from(Array.from({ length: 10_000 }, (_, n) => (n * 7) % 256));

describe('a list', () => {
  it.each<[string, string, string | Uint8Array]>([
    ['with an open quote', 'a.csv', `name,city\n"${'x,y\n'.repeat(fewOrAll(MEGABYTE / 4, 6 * MEGABYTE))}`],
    ['with many ragged rows', 'a.csv', `name,city\n${'a,b,c,d\n'.repeat(fewOrAll(25_000, 100_000))}`],
    ['with carriage returns alone', 'a.csv', 'name,city\rNopa,SF\r'],
    ['with escapes and NUL in cells', 'a.csv', 'name,city\n\u001b[2J\u0000,\u009b\n'],
    ['with two byte order marks', 'a.csv', '\ufeff\ufeffname,city\nNopa,SF\n'],
    ['of binary data', 'a.csv', BINARY],
    ['with columns of every object', 'a.csv', '__proto__,constructor,toString,name,city\n1,2,3,Nopa,SF\n'],
    ['of JSON with 100,000 levels', 'a.ndjson', `{"name":"a","city":"b","x":${'['.repeat(100_000)}`],
    ['of a line of 17 MB', 'a.ndjson', `{"name":"${'x'.repeat(17 * MEGABYTE)}","city":"b"}\n`],
    ['of a long number', 'a.ndjson', `{"name":"a","city":"b","n":${'9'.repeat(15_000_000)}}\n`],
    ['of many blank lines', 'a.ndjson', '\n'.repeat(fewOrAll(300_000, 5_000_000))],
    [
      'with keys of every object',
      'a.ndjson',
      '{"__proto__":{"a":1},"constructor":2,"name":"Nopa","city":"SF"}\n',
    ],
    ['of one line without an end', 'a.csv', `name,city,${'a'.repeat(MEGABYTE)}`],
    ['of 50,000 columns', 'a.csv', `name,city,${'c,'.repeat(50_000)}`],
    ['of many quotes', 'a.csv', '"'.repeat(fewOrAll(250_001, 1_000_001))],
    [
      'of minified JSON under the wrong name',
      'a.csv',
      `{${'"a":1,'.repeat(fewOrAll(50_000, 200_000))}"b":2}`,
    ],
  ])('%s is read or rejected', async (_name, file, content) => {
    home.write(file, content);
    for (const more of [['--dry-run'], ['--quiet', '--first', '3']]) {
      const { exit } = await run(['enrich', file, '-o', `out-${file}`, ...more], { env });
      expect([0, 2, 8]).toContain(exit);
    }
  });
});

describe('an argument', () => {
  it.each([
    'call find_restaurant a.__proto__.b=1 --dry-run',
    'call find_restaurant __proto__=x --dry-run',
    'call find_restaurant --args {"__proto__":{"x":1}} --dry-run',
    'raw x -f __proto__.a=1 --dry-run',
    'raw x -F constructor.prototype.a=1 --dry-run',
    'find x --city SF --profile __proto__',
    'config get __proto__',
    'config set constructor x',
    'call constructor',
    'mcp config __proto__',
    'skill install constructor',
    'find x --city SF --format __proto__',
    'find x --city SF --columns __proto__',
    'toString',
    'help constructor',
  ])('is an ordinary name, or rejected, in: %s', async (line) => {
    await run(line.split(' '));
  });

  it.each(['-1s', '1e9s', '25d', '0x10s', '\u0663s', 'Infinity', `${2 ** 32}ms`, 'NaN', ''])(
    '--timeout %j is rejected',
    async (value) => {
      await run(['find', 'x', '--city', 'SF', '--timeout', value], { exit: 2 });
    },
  );

  it.each(['x;id', '$(id)', '`id`', 'a b', '../../etc', '\u001b[2J'])(
    'that is the id %j is rejected',
    async (id) => {
      await run(['lookup', id], { exit: 2 });
      await run(['lookup', '-'], { stdin: `${id}\n`, exit: 2 });
    },
  );
});

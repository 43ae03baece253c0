// Reads a CSV and writes the same one, as the shortest possible script. Usage: node bare-list.cjs <list> <copy>
const { readFileSync, writeFileSync } = require('node:fs');

const [list, copy] = process.argv.slice(2);
const rows = readFileSync(list, 'utf8').split('\n');
writeFileSync(copy, rows.map((row) => row.split(',').join(',')).join('\n'));

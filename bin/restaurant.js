#!/usr/bin/env node
'use strict';

const { existsSync } = require('node:fs');
const { join } = require('node:path');

const [major, minor] = process.versions.node.split('.').map(Number);
const start = join(__dirname, '../dist/start.cjs');
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`error: restaurant needs Node.js 20.19 or later; this is ${process.version}\n`);
  process.exitCode = 1;
} else if (!existsSync(start)) {
  process.stderr.write('error: restaurant is not built yet\nhint: npm ci && npm run build\n');
  process.exitCode = 1;
} else {
  require(start);
}

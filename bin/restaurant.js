#!/usr/bin/env node
'use strict';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`error: restaurant needs Node.js 20.19 or later; this is ${process.version}\n`);
  process.exitCode = 1;
} else {
  require('../dist/start.cjs');
}

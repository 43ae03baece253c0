import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'rolldown';
import { beforeAll, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/server.ts';
import { tempFolder } from '../helpers/temp-folder.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const guide = readFileSync(join(root, 'docs/library.md'), 'utf8');
const examples = [...guide.matchAll(/```js\n(.*?)```/gs)].map(([, code = '']) => code);

let project: string;

beforeAll(async () => {
  project = tempFolder();
  const installed = join(project, 'node_modules/restaurant-data-cli');
  mkdirSync(join(installed, 'bin'), { recursive: true });
  cpSync(join(root, 'package.json'), join(installed, 'package.json'));
  await run(process.execPath, [join(root, 'scripts/build-library.js'), join(installed, 'dist')]);
  mkdirSync(join(project, 'node_modules/@types'));
  symlinkSync(join(root, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'));
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  for (const [index, code] of examples.entries()) writeFileSync(join(project, `${index}.js`), code);
});

describe('the package as a library', () => {
  it('has examples that compile in strict mode, with all types of the package checked', async () => {
    const options = {
      compilerOptions: {
        allowJs: true,
        checkJs: true,
        strict: true,
        noEmit: true,
        target: 'es2022',
        module: 'nodenext',
        types: ['node'],
        skipLibCheck: false,
      },
      files: examples.map((_code, index) => `${index}.js`),
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(options));
    const { stdout } = await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], {
      cwd: project,
    }).catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  });

  it.each([
    [0, /Nopa [0-9a-f-]{36}\n(.*\n)*Nopa\n$/],
    [1, /^unauthorized false 401\n$/],
    [2, /^1\n$/],
    [3, /find_restaurant.*lookup_restaurant.*\ntrue\n$/],
  ])('has an example %d that works', async (index, expected) => {
    const sandbox = await startSandbox({ perMinute: 0, perDay: 0 });
    const env = { ...process.env, SERVICE_URL: sandbox.baseUrl, SERVICE_KEY: sandbox.keys.paid };
    const { stdout, stderr } = await run(process.execPath, [join(project, `${index}.js`)], { env });
    await sandbox.close();
    expect(stdout).toMatch(expected);
    expect(stderr).toBe('');
  });

  it('has a test for every example', () => {
    expect(examples).toHaveLength(4);
  });

  it.each(['cjs', 'esm'] as const)('works in CommonJS, bundled as %s', async (format) => {
    const input = join(project, 'app.cjs');
    const code = `
      const { createClient } = require('restaurant-data-cli');
      const client = createClient({ baseUrl: process.env.SERVICE_URL, apiKey: process.env.SERVICE_KEY });
      client.find({ name: 'Nopa', city: 'SF' }).then(({ output }) => {
        console.log(output.total_matches);
        return client.close();
      });`;
    writeFileSync(input, code);
    const file = join(tempFolder(), `app.${format === 'cjs' ? 'cjs' : 'mjs'}`);
    await build({
      input,
      platform: 'node',
      output: { file, format, codeSplitting: false },
      logLevel: 'silent',
    });
    const sandbox = await startSandbox({ perMinute: 0, perDay: 0 });
    const env = { SERVICE_URL: sandbox.baseUrl, SERVICE_KEY: sandbox.keys.paid };
    for (const path of [input, file]) {
      expect(await run(process.execPath, [path], { env })).toMatchObject({ stdout: '3\n', stderr: '' });
    }
    await sandbox.close();
  });

  it('does not use import.meta, which bundlers leave empty in CommonJS', () => {
    const dist = join(project, 'node_modules/restaurant-data-cli/dist');
    const chunks = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.js'),
    );
    expect(chunks.length).toBeGreaterThan(3);
    for (const chunk of chunks) expect(readFileSync(join(dist, chunk), 'utf8')).not.toContain('import.meta');
  });

  it('reads neither the process nor files, and speaks of facts, not of the command line', () => {
    const text = readFileSync(join(project, 'node_modules/restaurant-data-cli/dist/library.js'), 'utf8');
    expect(text).not.toMatch(/\bprocess\.(?:env|argv|stdout|stderr|stdin|exit|cwd)\b/);
    expect(text).not.toMatch(/node:fs/);
    expect(text).not.toMatch(/['"`(]--[a-z]+-[a-z]+|restaurant (?:login|status|lookup|tools)\b/);
  });
});

import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { PAID, useService } from '../../helpers/service.ts';

const shell = promisify(execFile);
const service = useService();
const raw = (...words: string[]) => service.run(['raw', ...words]);
const PARAMS = '{"name":"find_restaurant","arguments":{"name":"Nopa","city":"SF"}}';

describe('raw', () => {
  it('prints the whole response', async () => {
    const { exit, stdout, stderr } = await raw('tools/call', PARAMS);
    expect([exit, stderr]).toEqual([0, '']);
    const envelope = JSON.parse(stdout);
    expect(Object.keys(envelope)).toEqual(['jsonrpc', 'id', 'result']);
    expect(JSON.parse(envelope.result.content[0].text).results[0].name).toBe('Nopa');
    expect(service.sandbox.requests.at(-1)?.body).toMatchObject({ id: envelope.id });
  });

  it('accepts params as JSON, from a file, from stdin, or as fields', async () => {
    const file = join(service.home, 'params.json');
    writeFileSync(file, `\uFEFF${PARAMS}`);
    const fields = ['-f', 'name=find_restaurant', '-f', 'arguments.name=Nopa', '-F', 'arguments.city="SF"'];
    const bodies: unknown[] = [];
    for (const run of [
      () => raw('tools/call', PARAMS),
      () => raw('tools/call', `@${file}`),
      () => service.run(['raw', 'tools/call', '-'], { stdin: PARAMS }),
      () => raw('tools/call', ...fields),
    ]) {
      expect((await run()).exit).toBe(0);
      bodies.push(service.sandbox.requests.at(-1)?.body);
    }
    expect(bodies).toMatchObject(Array(4).fill({ params: JSON.parse(PARAMS) }));
  });

  it('refuses a file of another format before anything is sent, unless JSON is named', async () => {
    const file = join(service.home, 'raw.csv');
    service.sent();
    const { exit, stderr } = await raw('tools/call', PARAMS, '-o', file);
    expect([exit, service.sent()]).toEqual([2, 0]);
    expect(stderr).toContain('raw.csv: raw prints json\n');
    expect((await raw('tools/call', PARAMS, '-o', file, '--json')).exit).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty('jsonrpc');
  });

  it('prints a JSON-RPC error like any response and exits 7', async () => {
    const { exit, stdout, stderr } = await raw('no/such');
    expect(exit).toBe(7);
    expect(JSON.parse(stdout).error.code).toBe(-32601);
    expect(stderr).toBe('');
  });

  it('unwraps the text and prints the response headers', async () => {
    const { stdout } = await raw('tools/call', PARAMS, '--unwrap');
    expect(JSON.parse(stdout).status).toBe('ok');
    const [head = '', body = ''] = (await raw('tools/call', PARAMS, '-i')).stdout.split('\n\n');
    expect(head).toMatch(/^HTTP\/1\.1 200/);
    expect(head).toMatch(/^content-type: application\/json/m);
    expect(JSON.parse(body).jsonrpc).toBe('2.0');
  });

  it('adds headers, except those that the program sets', async () => {
    await raw('tools/call', PARAMS, '-H', 'X-Trace: abc', '-H', 'X-Empty:');
    expect(service.sandbox.requests.at(-1)?.headers).toMatchObject({ 'x-trace': 'abc' });
    for (const header of ['Authorization: Bearer x', 'no header', 'a: b\nc: d']) {
      expect((await raw('tools/call', PARAMS, '-H', header)).exit).toBe(2);
    }
  });

  it('reports the position of a JSON error', async () => {
    const { exit, stderr } = await raw('tools/call', '{"name": nope}');
    expect(exit).toBe(2);
    expect(stderr).toMatch(/^error: params is not valid JSON: line 1, column 10\nhint: /);
    for (const params of ['42', '"text"', 'null']) expect((await raw('tools/call', params)).exit).toBe(2);
    expect((await raw('tools/call', PARAMS, '-f', 'a=b')).stderr).toContain(
      'cannot combine the params argument with -f or -F',
    );
    expect((await raw('tools/call', '-f', 'a=1', '-f', 'a.b=2')).exit).toBe(2);
    expect((await raw('tools/call', '@missing.json')).stderr).toContain('no such file or folder');
  });

  it('prints the request and sends nothing with --dry-run', async () => {
    service.sent();
    const { exit, stdout } = await raw('tools/call', PARAMS, '--dry-run');
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      method: 'POST',
      url: service.sandbox.endpoint,
      headers: { Authorization: 'Bearer sk_service_…paid', 'Content-Type': 'application/json' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: JSON.parse(PARAMS) },
    });
    // A filter is written for the response.
    const filtered = await raw('tools/call', PARAMS, '--dry-run', '--jq', '.result.content[]');
    expect(filtered).toMatchObject({ exit: 0, stdout });
    expect(service.sent()).toBe(0);
  });

  it('prints a curl command that gets the same response', async () => {
    const quotes = JSON.stringify({
      name: 'find_restaurant',
      arguments: { name: `L'Été "9" $HOME`, city: 'Paris' },
    });
    for (const params of [PARAMS, quotes]) {
      const command = (await raw('tools/call', params, '--curl')).stdout;
      expect(command).not.toContain(PAID);
      const env = { PATH: process.env.PATH, RESTAURANT_API_KEY: PAID };
      const { stdout: reply } = await shell('sh', ['-c', `${command.trim()} -s`], { env, timeout: 50_000 });
      const sent = service.sandbox.requests.at(-1)?.body as { params: unknown };
      expect(sent.params).toEqual(JSON.parse(params));
      expect({ ...JSON.parse(reply), id: 0 }).toEqual({
        ...JSON.parse((await raw('tools/call', params)).stdout),
        id: 0,
      });
    }
  });

  it('writes to a file of any extension', async () => {
    const file = join(service.home, 'response.bin');
    expect((await raw('tools/call', PARAMS, '-o', file)).exit).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty('result');
  });
});

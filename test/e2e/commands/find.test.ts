import { describe, expect, it } from 'vitest';
import { newHome, runCli } from '../../helpers/program.ts';
import { useService } from '../../helpers/service.ts';

const service = useService();
const tty = { stdin: true, stdout: true, stderr: true, columns: 200 };

describe('find', () => {
  it('sends the name byte for byte', async () => {
    for (const name of ['--spicy', 'a"b\'c\\', 'Café Zoë', '寿司🍣', 'line\nbreak', 'x'.repeat(10_000)]) {
      expect((await service.run(['find', '--city', 'SF', '--', name])).exit).toBe(0);
      const params = { name: 'find_restaurant', arguments: { name, city: 'SF' } };
      expect(service.sandbox.requests.at(-1)?.body).toEqual({
        jsonrpc: '2.0',
        id: expect.any(Number),
        method: 'tools/call',
        params,
      });
    }
  });

  it('requests the city by a prompt at a terminal, and saves it on request', async () => {
    const env = { ...service.env, ...newHome().env };
    const asked = await runCli(['find', 'Nopa'], { env, tty, answers: { text: ['SF', 'y'] } });
    expect(asked).toMatchObject({ exit: 0, stdout: expect.stringContaining('Nopa') });
    expect((await runCli(['find', 'Nopa', '--json'], { env })).exit).toBe(0);
  });

  it.each([
    ['--no-input', ['--no-input'], { tty }],
    ['--json', ['--json'], { tty }],
    ['CI', [], { tty, env: { CI: 'true' } }],
    ['a pipe', [], {}],
  ] as const)('does not request the city with %s', async (_name, words, options) => {
    const { exit } = await service.run(['find', 'Nopa', ...words], { ...options, answers: { text: 'SF' } });
    expect(exit).toBe(2);
  });
});

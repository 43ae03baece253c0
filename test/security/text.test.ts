import { readdirSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Reply, resultText, useScriptedService } from '../helpers/answers.ts';
import { start } from '../helpers/process.ts';
import { restaurants, sharedFolder, useProgram } from './support.ts';

const { run } = useProgram();
const service = useScriptedService();
const FIND = ['find', 'Nopa', '--city', 'SF'];
const ROW = { service_id: 'r-1', name: 'Nopa', city: 'SF', coordinates: { lat: 1, lng: 2 } };

let folder = '';
beforeEach(() => {
  folder = sharedFolder();
});
const options = () => ({ env: { HOME: folder, RESTAURANT_BASE_URL: service.url }, cwd: folder });

/** Responds to a search with this row, and to lookups with this status. */
const refusing =
  (row: object, status: number): Reply =>
  (request, response) =>
    request.text.includes('lookup_restaurant')
      ? response.writeHead(status, { 'Content-Type': 'application/json' }).end('{"error":{"code":"x"}}')
      : restaurants(row)(request, response);

/** Runs a command that fails, then the command in its hint, with a `restaurant` that does nothing. */
async function expectHarmlessHint(...words: readonly string[]): Promise<void> {
  const { stderr } = await run([...words, '--json'], options());
  const [command = ''] = /restaurant .*/.exec(JSON.parse(stderr).error.hint ?? '') ?? [];
  const line = `restaurant() { :; }; ${command.replace(/ (?:works|gives|shows|lists) .*/s, '')}`;
  await start('bash', ['-c', line], { cwd: folder }).ended;
  expect(readdirSync(folder).join()).not.toContain('PWNED');
}

describe('a command in a hint', () => {
  it.each([
    'x;id>PWNED;#',
    '$(id>PWNED)',
    '`id>PWNED`',
    "'; id>PWNED; '",
    'a\nid>PWNED',
    '--base-url=http://x',
  ])('with the id %j from the service runs no other command', async (id) => {
    for (const status of [403, 404]) {
      service.answer(refusing({ ...ROW, service_id: id }, status));
      await run(FIND, { ...options(), exit: 0 });
      await expectHarmlessHint('lookup', '1', '--fields', 'premium');
    }
  });

  it('with a tool name from the service runs no other command', async () => {
    service.answer(resultText(JSON.stringify({ tools: [{ name: 'evil$(id>PWNED)', inputSchema: {} }] })));
    await expectHarmlessHint('call', 'evil$(id>PWNE)');
  });
});

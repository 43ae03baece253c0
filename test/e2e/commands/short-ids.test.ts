import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../helpers/program.ts';
import { useService } from '../../helpers/service.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

const IDS = ['abcdef12-one', 'abcdef13-two', '9876543-three'];
const service = useService({
  restaurants: IDS.map((id) => ({ service_id: id, name: `Place ${id.slice(-3)}`, city: 'SF' })),
});
let env: Record<string, string> = {};
const run = (...words: string[]) => runCli([...words, '--json'], { env });
const idOf = async (word: string): Promise<string> =>
  JSON.parse((await run('lookup', word)).stdout).service_id;

beforeEach(async () => {
  env = {
    ...service.env,
    RESTAURANT_STATE_DIR: tempFolder(),
    RESTAURANT_DATA_DIR: tempFolder(),
    RESTAURANT_CACHE_DIR: tempFolder(),
  };
  await run('find', 'Place', '--city', 'SF');
});

describe('the beginning of an id', () => {
  it('is completed from the last search, the cache, and the saved restaurants', async () => {
    expect(await idOf('abcdef12')).toBe(IDS[0]);
    expect(await idOf('987654')).toBe(IDS[2]);
    env.RESTAURANT_STATE_DIR = tempFolder();
    await run('save', 'abcdef13');
    env.RESTAURANT_CACHE_DIR = tempFolder();
    expect(await idOf('abcdef')).toBe(IDS[1]);
  });

  it('of several ids is refused before a request, with their names', async () => {
    service.sent();
    const { exit, stderr } = await run('lookup', 'abcdef1');
    expect([exit, service.sent()]).toEqual([2, 0]);
    expect(JSON.parse(stderr).error).toMatchObject({
      message: "'abcdef1' is the beginning of 2 IDs: abcdef12-one (Place one), abcdef13-two (Place two)",
      hint: expect.stringMatching(/^restaurant lookup abcdef12-one/),
    });
  });

  it('is sent as it is when it is too short, unknown, or of another service', async () => {
    for (const word of ['abcde', 'zzzzzz']) {
      expect(JSON.parse((await run('lookup', word)).stderr).error.message).toContain(`no restaurant ${word}`);
    }
    await run('save', 'abcdef12');
    env.RESTAURANT_STATE_DIR = tempFolder();
    env.RESTAURANT_CACHE_DIR = tempFolder();
    expect((await run('lookup', 'abcdef12', '--demo')).stderr).toContain('no restaurant abcdef12');
    writeFileSync(join(env.RESTAURANT_DATA_DIR ?? '', 'saved.json'), '{');
    expect((await run('lookup', 'abcdef12')).stderr).toContain('no restaurant abcdef12');
  });
});

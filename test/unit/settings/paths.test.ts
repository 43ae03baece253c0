import { describe, expect, it } from 'vitest';
import { resolvePaths } from '../../../src/storage/paths.ts';

type Env = Record<string, string>;

/** The file of the config, and the folders for state, cache, and data. */
function resolve(
  env: Env,
  platform: NodeJS.Platform = 'linux',
  homedir = () => '/home/ana',
  cwd = () => '/here',
) {
  const { configFile, stateDir, cacheDir, dataDir } = resolvePaths({ env, platform, homedir, cwd });
  return [configFile, stateDir, cacheDir, dataDir];
}

const inHome = (home: string): string[] => [
  `${home}/.config/restaurant/config.json`,
  ...['.local/state', '.cache', '.local/share'].map((folder) => `${home}/${folder}/restaurant`),
];
const NONE = [undefined, undefined, undefined, undefined];

/** Every variable that names a folder. */
const VARIABLES = ['CONFIG', 'STATE', 'CACHE', 'DATA'].flatMap((name) => [
  `XDG_${name}_HOME`,
  `RESTAURANT_${name}_DIR`,
]);

describe('resolvePaths', () => {
  it.each<[string, Env, NodeJS.Platform, (string | undefined)[]]>([
    ['uses the defaults under HOME', { HOME: '/home/eve' }, 'linux', inHome('/home/eve')],
    ['uses the same on macOS', { HOME: '/home/eve' }, 'darwin', inHome('/home/eve')],
    ['uses the user database without HOME', {}, 'linux', inHome('/home/ana')],
    ['uses it also if HOME is empty', { HOME: '' }, 'linux', inHome('/home/ana')],
    ['uses it also if HOME is relative', { HOME: 'rel' }, 'linux', inHome('/home/ana')],
    [
      'prefers RESTAURANT_*_DIR to XDG_*_HOME, and that to HOME',
      {
        HOME: '/home/eve',
        XDG_CONFIG_HOME: '/x/config',
        XDG_STATE_HOME: '/x/state',
        XDG_DATA_HOME: '/x/data',
        RESTAURANT_CONFIG_DIR: '/own/config',
      },
      'linux',
      ['/own/config/config.json', '/x/state/restaurant', '/home/eve/.cache/restaurant', '/x/data/restaurant'],
    ],
    [
      'follows APPDATA and LOCALAPPDATA on Windows',
      { APPDATA: 'C:\\U\\R', LOCALAPPDATA: 'C:\\U\\L' },
      'win32',
      [
        'R\\restaurant\\config.json',
        ...['state', 'cache', 'data'].map((folder) => `L\\restaurant\\${folder}`),
      ].map((path) => `C:\\U\\${path}`),
    ],
  ])('%s', (_what, env, platform, paths) => {
    expect(resolve(env, platform)).toEqual(paths);
  });

  it.each(['', 'relative', './here', '../up', '~/tilde'])(
    'ignores the value %j of the XDG variables',
    (value) => {
      const all = Object.fromEntries(
        VARIABLES.filter((name) => name.startsWith('XDG')).map((name) => [name, value]),
      );
      expect(resolve({ HOME: '/home/eve', ...all })).toEqual(inHome('/home/eve'));
    },
  );

  it.each([
    ['cfg', '/here/cfg'],
    ['./cfg/', '/here/cfg'],
    ['../cfg', '/cfg'],
    ['~/cfg', '/home/eve/cfg'],
    ['~', '/home/eve'],
    ['~other', '/here/~other'],
    ['', '/home/eve/.config/restaurant'],
  ])('resolves RESTAURANT_CONFIG_DIR=%s', (value, folder) => {
    const [config] = resolve({ HOME: '/home/eve', RESTAURANT_CONFIG_DIR: value });
    expect(config).toBe(`${folder}/config.json`);
  });

  it('does not use another folder if a variable cannot be resolved', () => {
    const gone = () => {
      throw new Error('deleted');
    };
    const env = { HOME: '/home/eve', RESTAURANT_CONFIG_DIR: 'cfg' };
    expect(resolve(env, 'linux', undefined, gone)[0]).toBeUndefined();
    expect(resolve({ RESTAURANT_CONFIG_DIR: 'cfg' }, 'win32', undefined, () => 'C:\\w')[0]).toBe(
      'C:\\w\\cfg\\config.json',
    );
  });

  it('uses the home of the user on Windows if a variable is relative', () => {
    const [config] = resolve({ APPDATA: 'rel' }, 'win32', () => 'C:\\Users\\eve');
    expect(config).toBe('C:\\Users\\eve\\AppData\\Roaming\\restaurant\\config.json');
    expect(resolve({}, 'win32', () => '')).toEqual(NONE);
  });

  it.each([
    ['empty', () => ''],
    ['relative', () => 'rel/home'],
    [
      'failing',
      () => {
        throw new Error('no entry');
      },
    ],
  ])('has no folder when the home is %s, except those that variables name', (_name, homedir) => {
    expect(resolve({}, 'linux', homedir)).toEqual(NONE);
    const state = [undefined, '/s', undefined, undefined];
    expect(resolve({ RESTAURANT_STATE_DIR: '/s' }, 'linux', homedir)).toEqual(state);
  });
});

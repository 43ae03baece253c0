import { describe, expect, it } from 'vitest';
import { resolvePaths } from '../../../src/storage/paths.ts';

function resolve(
  env: Record<string, string>,
  platform: NodeJS.Platform = 'linux',
  homedir: () => string = () => '/home/ana',
) {
  return resolvePaths({ env, platform, homedir });
}

describe('resolvePaths', () => {
  it('uses the defaults under HOME, on macOS too', () => {
    const expected = {
      configFile: '/home/eve/.config/restaurant/config.json',
      stateDir: '/home/eve/.local/state/restaurant',
      cacheDir: '/home/eve/.cache/restaurant',
      dataDir: '/home/eve/.local/share/restaurant',
    };
    expect(resolve({ HOME: '/home/eve' })).toEqual(expected);
    expect(resolve({ HOME: '/home/eve' }, 'darwin')).toEqual(expected);
  });

  it('prefers RESTAURANT_*_DIR to XDG_*_HOME, and that to HOME', () => {
    const paths = resolve({
      HOME: '/home/eve',
      XDG_CONFIG_HOME: '/x/config',
      XDG_STATE_HOME: '/x/state',
      XDG_DATA_HOME: '/x/data',
      RESTAURANT_CONFIG_DIR: '/own/config',
    });
    expect(paths).toEqual({
      configFile: '/own/config/config.json',
      stateDir: '/x/state/restaurant',
      cacheDir: '/home/eve/.cache/restaurant',
      dataDir: '/x/data/restaurant',
    });
  });

  it.each(['', 'relative', './here', '../up', '~/tilde'])('ignores the value %j', (value) => {
    const paths = resolve({
      HOME: '/home/eve',
      XDG_CONFIG_HOME: value,
      XDG_STATE_HOME: value,
      XDG_CACHE_HOME: value,
      XDG_DATA_HOME: value,
      RESTAURANT_CONFIG_DIR: value,
      RESTAURANT_STATE_DIR: value,
      RESTAURANT_CACHE_DIR: value,
      RESTAURANT_DATA_DIR: value,
    });
    expect(paths).toEqual(resolve({ HOME: '/home/eve' }));
  });

  it('uses the user database when HOME is missing or not absolute', () => {
    for (const env of [{}, { HOME: '' }, { HOME: 'rel' }] as Record<string, string>[]) {
      expect(resolve(env).configFile).toBe('/home/ana/.config/restaurant/config.json');
    }
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
    expect(resolve({}, 'linux', homedir)).toEqual({
      configFile: undefined,
      stateDir: undefined,
      cacheDir: undefined,
    });
    expect(resolve({ RESTAURANT_STATE_DIR: '/s' }, 'linux', homedir)).toEqual({
      configFile: undefined,
      stateDir: '/s',
      cacheDir: undefined,
    });
  });

  it('follows APPDATA and LOCALAPPDATA on Windows', () => {
    const env = { APPDATA: 'C:\\U\\R', LOCALAPPDATA: 'C:\\U\\L' };
    expect(resolve(env, 'win32', () => 'C:\\U')).toEqual({
      configFile: 'C:\\U\\R\\restaurant\\config.json',
      stateDir: 'C:\\U\\L\\restaurant\\state',
      cacheDir: 'C:\\U\\L\\restaurant\\cache',
      dataDir: 'C:\\U\\L\\restaurant\\data',
    });
    expect(resolve({ APPDATA: 'rel' }, 'win32', () => 'C:\\Users\\eve').configFile).toBe(
      'C:\\Users\\eve\\AppData\\Roaming\\restaurant\\config.json',
    );
    expect(resolve({}, 'win32', () => '').configFile).toBeUndefined();
  });
});

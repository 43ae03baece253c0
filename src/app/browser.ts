import { spawn } from 'node:child_process';
import type { Context } from '../context.ts';
import { traitsOf } from '../util/platform.ts';
import { programPath } from './program-path.ts';

type System = Pick<Context, 'env' | 'platform'>;

const isSet = (value: string | undefined): boolean => value !== undefined && value !== '';

export function missingBrowserReason({ env, platform }: System): string | undefined {
  if (traitsOf(platform).opener !== undefined || isSet(env.BROWSER)) return undefined;
  const display = [env.DISPLAY, env.WAYLAND_DISPLAY, env.WSL_DISTRO_NAME].some(isSet);
  return display ? undefined : 'there is no display, and BROWSER is not set';
}

/**
 * Returns the command that opens a URL: the first command in `BROWSER` (a list separated by `:`; `%s` is replaced by the
 * URL), else the platform's default. It is run without a shell.
 */
export function browserCommand({ env, platform }: System, url: string): [string, ...string[]] {
  const browser = env.BROWSER ?? '';
  // Windows paths contain spaces and colons.
  const { shell, opener } = traitsOf(platform);
  const words = shell === 'windows' ? [browser.trim()] : (browser.split(':')[0] ?? '').split(/\s+/);
  const [command, ...args] = words.filter(Boolean);
  if (command !== undefined) {
    const hasPlace = args.some((arg) => arg.includes('%s'));
    return [command, ...(hasPlace ? args.map((arg) => arg.replaceAll('%s', url)) : [...args, url])];
  }
  if (opener !== undefined) return [...opener, url];
  return [isSet(env.WSL_DISTRO_NAME) ? 'wslview' : 'xdg-open', url];
}

/**
 * Starts the browser, which may keep running after this program exits.
 * @returns a promise that resolves with the reason if the browser fails, and otherwise never settles
 */
export function startBrowser({ env, platform }: System, url: string): Promise<string> {
  const [command, ...args] = browserCommand({ env, platform }, url);
  const path = programPath(command, { env, platform });
  return new Promise((resolve) => {
    if (path === undefined) return resolve(`${command} cannot be started`);
    const child = spawn(path, args, {
      env: { ...env, RESTAURANT_API_KEY: undefined },
      stdio: 'ignore',
      detached: traitsOf(platform).hasProcessGroups,
      windowsHide: true,
    });
    child.on('error', () => resolve(`${command} cannot be started`));
    child.on('exit', (code) => {
      if (code !== 0) resolve(`${command} failed (${code ?? 'killed'})`);
    });
    child.unref();
  });
}

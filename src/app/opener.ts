import { spawn } from 'node:child_process';
import type { Context } from '../context.ts';
import { systemCode } from '../errors.ts';

type Opener = readonly [command: string, ...args: string[]];

/** Why a page cannot be shown here; undefined where it can. */
export function missingBrowserReason({
  env,
  platform,
}: Pick<Context, 'env' | 'platform'>): string | undefined {
  if (platform === 'darwin' || platform === 'win32' || set(env.BROWSER)) return undefined;
  const display = [env.DISPLAY, env.WAYLAND_DISPLAY, env.WSL_DISTRO_NAME].some(set);
  return display ? undefined : 'there is no display, and BROWSER is not set';
}

/**
 * The command that shows a URL: `BROWSER` (a list of commands with `:` between, of which the first counts; `%s` stands
 * for the URL), else what the platform has for it. Its words are arguments: no shell reads them.
 */
export function browserCommand({ env, platform }: Pick<Context, 'env' | 'platform'>, url: string): Opener {
  const [command, ...args] = wordsOf(env.BROWSER ?? '', platform);
  if (command !== undefined) {
    const named = args.some((arg) => arg.includes('%s'));
    return [command, ...(named ? args.map((arg) => arg.replaceAll('%s', url)) : [...args, url])];
  }
  if (platform === 'darwin') return ['open', url];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url];
  return [set(env.WSL_DISTRO_NAME) ? 'wslview' : 'xdg-open', url];
}

/**
 * Starts the browser and leaves it alone.
 * @returns settles with the reason when it fails; never, where it goes well or just runs on
 */
export function startBrowser(
  { env, platform }: Pick<Context, 'env' | 'platform'>,
  url: string,
): Promise<string> {
  const [command, ...args] = browserCommand({ env, platform }, url);
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env,
      stdio: 'ignore',
      detached: platform !== 'win32',
      windowsHide: true,
    });
    child.on('error', (error) => {
      resolve(
        systemCode(error) === 'ENOENT' ? `there is no ${command} here` : `${command} cannot be started`,
      );
    });
    child.on('exit', (code) => {
      if (code !== 0) resolve(`${command} failed (${code ?? 'killed'})`);
    });
    child.unref();
  });
}

/** A path of Windows holds blanks and colons. */
function wordsOf(browser: string, platform: NodeJS.Platform): string[] {
  if (platform === 'win32') return [browser.trim()].filter(Boolean);
  const [first = ''] = browser.split(':');
  return first.split(/\s+/).filter(Boolean);
}

const set = (value: string | undefined): boolean => value !== undefined && value !== '';

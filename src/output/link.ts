import { parseUrl } from '../util/url.ts';
import type { ColorOptions } from './color.ts';
import type { View } from './presentation.ts';

const MAX_URL_LENGTH = 2000;
/** Values of TERM_PROGRAM of terminals that support links. Older versions ignore them. */
const PROGRAMS: readonly string[] = ['iTerm.app', 'WezTerm', 'vscode', 'ghostty', 'zed', 'tmux'];
/** Minimum version of VTE (GNOME Terminal and others), because 0.50.0 crashes on a link. */
const MIN_VTE = 5001;

/**
 * Returns whether a stream shows hyperlinks (OSC 8). `--no-color` and NO_COLOR override FORCE_HYPERLINK (`0` means off),
 * which overrides TERM=dumb, CI, and the detected terminal. An empty variable counts as unset.
 */
export function showsLinks({ flag, env, isTTY }: ColorOptions): boolean {
  if (flag === false || env.NO_COLOR) return false;
  const forced = env.FORCE_HYPERLINK;
  if (forced) return forced !== '0' && forced !== 'false';
  if (!isTTY || env.TERM === 'dumb' || (env.CI && env.CI !== 'false' && env.CI !== '0')) return false;
  return isCapable(env);
}

function isCapable({ TERM_PROGRAM = '', TERM = '', VTE_VERSION, WT_SESSION }: ColorOptions['env']): boolean {
  if (PROGRAMS.includes(TERM_PROGRAM)) return true;
  // Inside a multiplexer, the other variables describe the outer terminal.
  if (/^(screen|tmux)/.test(TERM)) return false;
  if (VTE_VERSION) return Number(VTE_VERSION) >= MIN_VTE;
  return Boolean(WT_SESSION) || /^(xterm-kitty|xterm-ghostty|alacritty|foot|wezterm)/.test(TERM);
}

export function link(text: string, url: string | undefined, view: View): string {
  if (view.links !== true || url === undefined || text === '') return text;
  return `\u001b]8;;${url}\u001b\\${text}\u001b]8;;\u001b\\`;
}

/** Returns the URL that a text shows, if it is https, in ASCII, and without user name; otherwise undefined. */
export function webUrl(text: string): string | undefined {
  const url =
    text.length <= MAX_URL_LENGTH && /^https:\/\/[!-:<-~]+$/.test(text) ? parseUrl(text) : undefined;
  if (url === undefined) return undefined;
  const { href, username, password, hostname } = url;
  const same = href === text || href === `${text}/`;
  return same && username === '' && password === '' && hostname.includes('.') ? href : undefined;
}

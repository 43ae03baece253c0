import { Chalk } from 'chalk';
import { mapValues } from '../util/json.ts';
import { parseUrl } from '../util/url.ts';

interface ColorOptions {
  /** `false` for `--no-color`, which overrides everything else. */
  readonly flag?: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isTTY: boolean;
}

export type Paint = (text: string) => string;

/**
 * Colors by meaning. No meaning is shown by color alone. Only the 16 basic colors are used, so that they follow the
 * terminal's theme. None of them is combined with bold, because many terminals show bold as a brighter color that is
 * unreadable on white.
 */
const COLORS = {
  heading: 'bold',
  name: 'bold',
  dim: 'dim',
  key: 'dim',
  number: 'dim',
  url: 'underline',
  code: 'cyan',
  good: 'green',
  warn: 'yellow',
  bad: 'red',
} as const;

type Paints = Readonly<Record<keyof typeof COLORS, Paint>>;

export interface Palette extends Paints {
  /** Without color, which is hard to read on a light or dark background: A and unknown grades bold, D to F underlined. */
  readonly grade: Paint;
}

export interface View {
  readonly width: number;
  readonly palette: Palette;
  readonly unicode: boolean;
  readonly links?: boolean;
}

/**
 * Returns whether a stream is colored. In order of precedence: the flag, NO_COLOR (no-color.org), FORCE_COLOR and
 * CLICOLOR_FORCE (`0` means off), CLICOLOR=0 and TERM=dumb, whether it is a terminal. An empty variable counts as unset.
 */
export function isColored({ flag, env, isTTY }: ColorOptions): boolean {
  if (flag === false || env.NO_COLOR) return false;
  const forced = env.FORCE_COLOR || env.CLICOLOR_FORCE;
  if (forced) return forced !== '0' && forced !== 'false';
  return isTTY && env.CLICOLOR !== '0' && env.TERM !== 'dumb';
}

export function palette(level: 0 | 1): Palette {
  const chalk = new Chalk({ level });
  // chalk joins all its arguments, and `map` passes three.
  const paints = mapValues(COLORS, (color) => (text: string) => chalk[color](text)) as Paints;
  const { name, url } = paints;
  const plain: Paint = (text) => text;
  const grades: Readonly<Record<string, Paint>> = { A: name, B: plain, C: plain, D: url, E: url, F: url };
  const letterOf = (text: string): string => /^[A-F](?=[+\-−]*$)/i.exec(text)?.[0].toUpperCase() ?? '';
  return { ...paints, grade: (text) => (grades[letterOf(text)] ?? name)(text) };
}

const JSON_TOKEN = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|\b(?:true|false|null)\b/g;

export function colorJson(json: string, { code, good, warn }: Palette): string {
  return json.replace(JSON_TOKEN, (token, text?: string, colon?: string) => {
    if (text === undefined) return warn(token);
    return colon === undefined ? good(text) : code(text) + colon;
  });
}

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

export function link(text: string, url: string | undefined, { links }: { readonly links?: boolean }): string {
  if (links !== true || url === undefined || text === '') return text;
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

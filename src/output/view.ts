import type { Palette } from './color.ts';

/** Properties of the terminal or file that a text is rendered for. */
export interface View {
  /** Maximum width of a line, in columns. */
  readonly width: number;
  readonly palette: Palette;
  /** Whether the terminal shows more than ASCII. */
  readonly unicode: boolean;
  /** Whether links (OSC 8) are shown. */
  readonly links?: boolean;
}

/** Returns symbols that the view can show. */
export function glyphs(view: View): { ellipsis: string; dot: string; rule: string; bullet: string } {
  return view.unicode
    ? { ellipsis: '…', dot: '·', rule: '─', bullet: '•' }
    : { ellipsis: '...', dot: '-', rule: '-', bullet: '*' };
}

/** Shown for a missing value in tables and cards. */
export const EMPTY = '-';

import type { Palette } from './color.ts';

/** What a renderer may know of the place its text goes to. */
export interface View {
  /** Columns; no line is wider. */
  readonly width: number;
  readonly palette: Palette;
  /** False where the terminal shows ASCII alone. */
  readonly unicode: boolean;
  /** True where links (OSC 8) are shown. */
  readonly links?: boolean;
}

/** The few signs that are not letters, as the view can show them. */
export function glyphs(view: View): { ellipsis: string; dot: string; rule: string; bullet: string } {
  return view.unicode
    ? { ellipsis: '…', dot: '·', rule: '─', bullet: '•' }
    : { ellipsis: '...', dot: '-', rule: '-', bullet: '*' };
}

/** What a table or card shows for a value that is not there. */
export const EMPTY = '-';

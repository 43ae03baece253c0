// Converts terminal text (lines with SGR colors) to an SVG that follows the reader's light or dark color scheme.
import { parseAnsiSequences } from 'ansi-sequence-parser';
import stringWidth from 'string-width';

const CELL = { width: 8.4, height: 20 };
const PADDING = 16;

/** Text colors, readable on the background of each scheme: light, dark. */
const COLORS = {
  red: ['#b3261e', '#ff8a80'],
  green: ['#1a7f37', '#56d364'],
  yellow: ['#8a5a00', '#e3b341'],
  blue: ['#0550ae', '#79c0ff'],
  magenta: ['#8250df', '#d2a8ff'],
  cyan: ['#0b6e6e', '#56d4dd'],
};
const fills = (scheme) => Object.entries(COLORS).map(([name, colors]) => `.${name}{fill:${colors[scheme]}}`);
const STYLE = [
  'text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#24292f}',
  '.back{fill:#fff;stroke:#d0d7de}.bold{font-weight:700}.dim{fill:#656d76}.underline{text-decoration:underline}',
  ...fills(0),
  '@media(prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117;stroke:#30363d}.dim{fill:#8b949e}',
  ...fills(1),
  '}',
].join('');

const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const number = (value) => String(Number(value.toFixed(1)));

/** Returns the words of a line, each at its column and as wide as its cells. Wide gaps separate words. */
function spansOf(line) {
  let column = 0;
  return parseAnsiSequences(line).flatMap(({ value, foreground, background, decorations }) => {
    const classes = [...decorations, foreground?.name ?? foreground?.type, background?.type].filter(Boolean);
    const unknown = classes.find((name) => !STYLE.includes(`.${name}{`));
    if (unknown !== undefined) throw new Error(`no style for ${unknown} in ${JSON.stringify(line)}`);
    const look = classes.length === 0 ? '' : ` class="${classes.join(' ')}"`;
    const start = column;
    column += stringWidth(value);
    return [...value.matchAll(/\S+(?: \S+)*/g)].map(({ 0: text, index }) => {
      const x = number(PADDING + (start + stringWidth(value.slice(0, index))) * CELL.width);
      const length = number(stringWidth(text) * CELL.width);
      return `<tspan x="${x}" textLength="${length}"${look}>${escaped(text)}</tspan>`;
    });
  });
}

/** @param {{ title: string, lines: readonly string[], columns: number }} screen */
export function svg({ title, lines, columns }) {
  const width = number(columns * CELL.width + 2 * PADDING);
  const height = number(lines.length * CELL.height + 2 * PADDING);
  const words = lines.map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, ''));
  const strange = words.find((text) => /[\u0000-\u001f\u007f-\u009f]/.test(text));
  if (strange !== undefined) throw new Error(`a control in ${JSON.stringify(strange)}`);
  const rows = lines.map((line, row) => {
    const spans = spansOf(line).join('');
    return spans === '' ? '' : `<text y="${number(PADDING + (row + 0.75) * CELL.height)}">${spans}</text>\n`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">
<title id="title">${escaped(title)}</title>
<desc id="desc">${escaped(words.join('\n'))}</desc>
<style>${STYLE}</style>
<rect class="back" x="0.5" y="0.5" width="${number(width - 1)}" height="${number(height - 1)}" rx="8"/>
${rows.join('')}</svg>
`;
}

// Converts terminal text (lines with SGR colors) to an SVG that follows the reader's light or dark color scheme.
import stringWidth from 'string-width';

const CELL = { width: 8.4, height: 20 };
const PADDING = 16;
const FONT = 14;

/** SGR foreground colors, readable on the background of each scheme. */
const COLORS = {
  31: { name: 'red', light: '#b3261e', dark: '#ff8a80' },
  32: { name: 'green', light: '#1a7f37', dark: '#56d364' },
  33: { name: 'yellow', light: '#8a5a00', dark: '#e3b341' },
  34: { name: 'blue', light: '#0550ae', dark: '#79c0ff' },
  35: { name: 'magenta', light: '#8250df', dark: '#d2a8ff' },
  36: { name: 'cyan', light: '#0b6e6e', dark: '#56d4dd' },
};
const STYLE = [
  `text{font:${FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#24292f}`,
  '.back{fill:#fff;stroke:#d0d7de}.bold{font-weight:700}.dim{fill:#656d76}.underline{text-decoration:underline}',
  ...Object.values(COLORS).map(({ name, light }) => `.${name}{fill:${light}}`),
  '@media(prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117;stroke:#30363d}.dim{fill:#8b949e}',
  ...Object.values(COLORS).map(({ name, dark }) => `.${name}{fill:${dark}}`),
  '}',
].join('');

const SGR = /\u001b\[([\d;]*)m/;

/** Applies the codes of one SGR sequence to the current CSS classes. */
function after(classes, codes) {
  const next = new Set(classes);
  const colors = Object.values(COLORS).map(({ name }) => name);
  for (const code of codes.split(';').map(Number)) {
    if (code === 0) next.clear();
    else if (code === 1) next.add('bold');
    else if (code === 2) next.add('dim');
    else if (code === 4) next.add('underline');
    else if (code === 22) ['bold', 'dim'].map((name) => next.delete(name));
    else if (code === 24) next.delete('underline');
    else if (code === 39 || code in COLORS) {
      for (const name of colors) next.delete(name);
      if (code in COLORS) next.add(COLORS[code].name);
    } else throw new Error(`no color for SGR ${codes}`);
  }
  return next;
}

/** Returns the words of a line, each with its column, width in cells, and classes. Wide gaps separate words. */
function wordsOf(line) {
  const words = [];
  let classes = new Set();
  let column = 0;
  for (const [index, part] of line.split(SGR).entries()) {
    if (index % 2 === 1) {
      classes = after(classes, part);
      continue;
    }
    if (/[\u0000-\u001f\u007f-\u009f]/.test(part)) throw new Error(`a control in ${JSON.stringify(line)}`);
    for (const { 0: text, index: start } of part.matchAll(/\S+(?: \S+)*/g)) {
      const before = stringWidth(part.slice(0, start));
      words.push({ text, column: column + before, width: stringWidth(text), classes });
    }
    column += stringWidth(part);
  }
  return words;
}

const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const number = (value) => String(Number(value.toFixed(1)));

/** @param {{ title: string, lines: readonly string[], columns: number }} screen */
export function svg({ title, lines, columns }) {
  const width = number(columns * CELL.width + 2 * PADDING);
  const height = number(lines.length * CELL.height + 2 * PADDING);
  const rows = lines.map((line, row) => {
    const y = number(PADDING + (row + 0.75) * CELL.height);
    const spans = wordsOf(line).map(({ text, column, width: cells, classes }) => {
      const look = classes.size === 0 ? '' : ` class="${[...classes].join(' ')}"`;
      const place = `x="${number(PADDING + column * CELL.width)}" textLength="${number(cells * CELL.width)}"`;
      return `<tspan ${place}${look}>${escaped(text)}</tspan>`;
    });
    return spans.length === 0 ? '' : `<text y="${y}">${spans.join('')}</text>`;
  });
  const words = lines.map((line) => line.replaceAll(new RegExp(SGR, 'g'), '')).join('\n');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title desc">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="desc">${escaped(words)}</desc>`,
    `<style>${STYLE}</style>`,
    `<rect class="back" x="0.5" y="0.5" width="${number(width - 1)}" height="${number(height - 1)}" rx="8"/>`,
    ...rows.filter((text) => text !== ''),
    '</svg>',
    '',
  ].join('\n');
}

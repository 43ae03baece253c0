import { createHash } from 'node:crypto';
import { toJson } from '../../util/json.ts';
import { cleanLine, truncate } from '../../util/text.ts';
import {
  HEAD_ID,
  LEFT_ID,
  type PageDocument,
  type PageHead,
  type PageRow,
  ROWS_ID,
  TILES,
} from './document.ts';

interface PageAsset {
  readonly script: string;
  readonly style: string;
}

/** The beginning of every page, which identifies pages of this program. */
const PAGE_MARK =
  '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="generator" content="restaurant">';

const MAX_HEADING_LENGTH = 200;

/**
 * One self-contained document: only map tiles are loaded, from OpenStreetMap. The data is JSON in elements that are not
 * executed, and the document's policy (CSP 3) allows only the one script whose hash it contains.
 * @throws {AppError} `bad_response` if data is nested too deeply
 */
export function renderPage({ rows, ...head }: PageDocument, asset: PageAsset): string {
  const all = rows.map((row, index) => pageRow(row, index)).join('');
  return pageStart(head, asset) + all + pageEnd(asset);
}

export function pageStart(head: PageHead, asset: PageAsset): string {
  const heading = truncate(cleanLine(head.heading).trim(), MAX_HEADING_LENGTH);
  const notes = [
    ...head.notes.map((note) => escapeHtml(note)),
    ...(head.at === undefined ? [] : [timeOf(head.at)]),
  ];
  return `${PAGE_MARK}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="strict-origin-when-cross-origin">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="${policy(asset)}">
<title>${escapeHtml(heading)} · restaurant</title>
<style>${asset.style}</style>
</head>
<body>
<a class="skip" href="#list">Skip to the list</a>
<header>
<p class="kind">${escapeHtml(head.kind)}</p>
<h1 dir="auto">${escapeHtml(heading)}</h1>
<ul class="notes">${notes.map((note) => `<li>${note}</li>`).join('')}<li id="placed"></li></ul>
</header>
<noscript><p class="empty">Enable JavaScript to see this list.</p></noscript>
<main id="main"></main>
<footer><p>Made by <b>restaurant</b>. The data is part of this file; only the map asks OpenStreetMap for its pictures.</p></footer>
<script type="application/json" id="${HEAD_ID}">${inScript(toJson({ ...head, heading }, false))}</script>
<script type="application/json" id="${ROWS_ID}">[`;
}

export function pageRow(row: PageRow, index: number): string {
  return `${index === 0 ? '' : ','}\n${inScript(toJson(row, false))}`;
}

export function pageEnd({ script }: PageAsset, left = 0): string {
  return `\n]</script>\n<script type="application/json" id="${LEFT_ID}">${left}</script>\n<script>${script}</script>\n</body>\n</html>\n`;
}

function policy({ script, style }: PageAsset): string {
  return [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    // Leaflet cancels the request for a tile by loading an empty image.
    `img-src ${TILES} data:`,
    `connect-src ${TILES}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
}

const hashOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('base64')}`;

function timeOf(at: number): string {
  const when = new Date(at).toISOString();
  return `<time datetime="${when}">${when.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** Escapes JSON so that it cannot end its script element or open a comment in it (HTML, section 4.12.1.3). */
function inScript(json: string): string {
  return json.replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

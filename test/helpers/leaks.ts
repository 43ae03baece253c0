import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Returns the text with escapes decoded. */
function decoded(text: string): string {
  const once = text
    .replace(/\\+u00([2-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replace(/\\+(["\\/])/g, '$1')
    .replace(/%(?:25)*([2-7][0-9a-f])/gi, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return once.replace(
    /[A-Za-z0-9+/]{16,}={0,2}/g,
    (base64) => base64 + Buffer.from(base64, 'base64').toString('latin1'),
  );
}

/** Returns whether the text shows more of the secret than its end. */
export function shows(text: string, secret: string): boolean {
  const all = [text, decoded(text)].join('\n').toLowerCase();
  for (let at = 0; at + 6 <= secret.length; at += 1) {
    if (all.includes(secret.slice(at, at + 6).toLowerCase())) return true;
  }
  return false;
}

/** Returns the files below a folder. */
export const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());

/** Returns the files below a folder that contain the text. */
export const filesWith = (text: string, folder: string): string[] =>
  filesOf(folder)
    .filter((path) => readFileSync(path, 'latin1').includes(text))
    .map((path) => relative(folder, path));

import { createHash } from 'node:crypto';
import type { JsonObject } from '../../util/json.ts';
import text from '../skill.md' with { type: 'text' };
import { invalidParams } from './protocol.ts';

const URI = 'skill://restaurant/SKILL.md';
const MIME_TYPE = 'text/markdown';

export const isSkill = (uri: unknown): boolean => uri === URI;

/** The frontmatter: one plain YAML value per line. */
function frontmatter(): JsonObject {
  const [, head = ''] = /^---\n(.*?)\n---\n/s.exec(text) ?? [];
  return Object.fromEntries(head.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
}

function entry(): JsonObject {
  const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  return {
    uri: URI,
    frontmatter: frontmatter(),
    resources: [{ uri: URI, digest, size: Buffer.byteLength(text) }],
  };
}

export const listSkills = (): JsonObject => ({ skills: [entry()] });

/** @throws {ProtocolError} -32602 for another URI */
export function getSkill(uri: unknown): JsonObject {
  if (!isSkill(uri)) throw invalidParams('the server has no such skill');
  return { skill: entry() };
}

/** The skill in `resources/list`, for hosts without the extension. */
export const skillResource = (): JsonObject => ({ uri: URI, ...frontmatter(), mimeType: MIME_TYPE });

export const readSkill = (): JsonObject => ({ contents: [{ uri: URI, mimeType: MIME_TYPE, text }] });

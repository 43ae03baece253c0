import { sha256 } from '@noble/hashes/sha2.js';

/** Loading `node:crypto` for it takes 5 ms. */
export const sha256Hex = (text: string): string => Buffer.from(sha256(Buffer.from(text))).toString('hex');

/** The program of worker.ts with jq, which scripts/assets.js builds. */
export const worker: string;

/** The program of worker.ts with jq, which scripts/jq-worker.js builds. */
export const worker: string;

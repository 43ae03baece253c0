/** The program of typed-worker.ts, which scripts/assets.js builds. */
export const worker: string;

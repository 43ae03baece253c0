import { join } from 'node:path';
import { describe } from 'vitest';
import { useService } from '../helpers/service.ts';
import { playSessions } from '../helpers/session.ts';

const run = { now: () => Date.UTC(2026, 0, 2, 12) };

describe.each([
  { file: 'transcripts.session', service: useService() },
  { file: 'transcripts-mcp.session', service: useService({ mode: 'mcp' }) },
])('$file', ({ file, service }) => {
  playSessions(join(import.meta.dirname, file), { env: () => service.env, terminal: 100, run });
});

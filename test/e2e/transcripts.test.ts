import { join } from 'node:path';
import { describe } from 'vitest';
import { useService } from '../helpers/service.ts';
import { playSessions } from '../helpers/session.ts';

const run = { now: () => Date.UTC(2026, 0, 2, 12) };

describe.each([
  { file: 'transcripts.session', service: useService(), terminal: 100 },
  // Wide enough for the path of a folder for temporary files.
  { file: 'transcripts-status.session', service: useService(), terminal: 200 },
  { file: 'transcripts-mcp.session', service: useService({ mode: 'mcp' }), terminal: 100 },
])('$file', ({ file, service, terminal }) => {
  playSessions(join(import.meta.dirname, file), { env: () => service.env, terminal, run });
});

import { join } from 'node:path';
import { describe } from 'vitest';
import { useService } from '../../helpers/service.ts';
import { playWithService } from '../../helpers/session.ts';

const plain = useService();
const mcp = useService({ mode: 'mcp' });

describe.each([
  { file: 'find.session', service: plain },
  { file: 'lookup.session', service: plain },
  { file: 'raw.session', service: plain },
  { file: 'settings.session', service: plain },
  { file: 'login.session', service: plain },
  { file: 'key-command.session', service: plain },
  { file: 'offline.session', service: plain },
  { file: 'tools.session', service: plain },
  { file: 'tools-mcp.session', service: mcp },
])('$file', ({ file, service }) => {
  playWithService(join(import.meta.dirname, file), service);
});

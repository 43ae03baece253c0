import { join } from 'node:path';
import { useService } from '../../helpers/service.ts';
import { playWithService } from '../../helpers/session.ts';

playWithService(join(import.meta.dirname, 'pick.session'), useService());

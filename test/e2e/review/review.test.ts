import { join } from 'node:path';
import { columns } from '../../helpers/enrich.ts';
import { useService } from '../../helpers/service.ts';
import { playWithService } from '../../helpers/session.ts';

const place = (id: string, name: string, lat = 1) => ({
  service_id: id,
  name,
  city: 'Testville',
  address: `${id} Main St`,
  coordinates: { lat, lng: 2 },
  grade: 'A',
});
const restaurants = [
  place('zuni', 'Zuni Café'),
  place('bar-1', 'Bar One'),
  place('bar-2', 'Bar Two', 1.001),
  place('nopa', 'Nopa'),
];

playWithService(join(import.meta.dirname, 'review.session'), useService({ restaurants }), {
  commands: { columns, results: (folder, name = '') => columns(folder, name, 'status', 'match', 'id') },
});

// Steps that change the list.
import type { History } from './history.ts';
import { findKey } from './record.ts';
import type { ListRow } from './world.ts';

const NAMES = [
  'Nopa',
  ' Nopa',
  'Golden Crane',
  'Golden Crane',
  'Café Müßiggang',
  'Tide',
  'Anker GmbH',
  '香',
  'Nobody, "here"',
  '',
];
const CITIES = ['Testville', 'Testville', 'Testville', 'Øst', 'Øst', 'Nowhere', ''];
const ADDRESSES = ['', '1 Main St', '2 Main St', '9 Elsewhere Rd'];
const MAX_ROWS = 8;

function newRow({ random }: History): ListRow {
  return {
    name: random.pick(NAMES),
    city: random.pick(CITIES),
    address: random.pick(ADDRESSES),
    note: `note ${random.below(1000)}`,
  };
}

export function insert(history: History): string {
  const { world, random } = history;
  if (world.rows.length >= MAX_ROWS) return 'full';
  const row = newRow(history);
  world.rows.splice(random.below(world.rows.length + 1), 0, row);
  return findKey(row);
}

export function remove({ world, random }: History): undefined {
  if (world.rows.length > 1) world.rows.splice(random.below(world.rows.length), 1);
}

export function reorder({ world, random }: History): undefined {
  world.rows = random.shuffled(world.rows);
}

export function duplicate({ world, random }: History): undefined {
  if (world.rows.length < MAX_ROWS) world.rows.push({ ...random.pick(world.rows), note: 'again' });
}

/** The same name in the same city at another address. */
export function addBranch({ world, random }: History): string {
  if (world.rows.length >= MAX_ROWS) return 'full';
  const row = random.pick(world.rows);
  const address = random.pick(ADDRESSES.filter((each) => each !== row.address));
  world.rows.splice(random.below(world.rows.length + 1), 0, { ...row, address, note: 'note 0' });
  return `${findKey(row)} at '${address}'`;
}

export function correct(history: History): string {
  const { world, random } = history;
  const index = random.below(world.rows.length);
  const row = world.rows[index] ?? newRow(history);
  const { name, city, address } = newRow(history);
  const corrected = { ...row, ...random.pick([{ name }, { city }, { address }]) };
  world.rows[index] = corrected;
  return findKey(corrected);
}

export function toggleColumn({ world }: History): string {
  world.hasAddress = !world.hasAddress;
  return world.hasAddress ? 'added' : 'removed';
}

export function changeOptions(history: History): string {
  history.fields = history.fields === undefined ? 'standard' : undefined;
  history.words = history.fields === undefined ? [] : ['--fields', history.fields];
  return history.words.join(' ');
}

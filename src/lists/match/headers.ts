/**
 * The headers that are recognized, best first. A plain `id` may belong to another program. The paths are those of
 * Overture Maps, and `addr:city` is a key of OpenStreetMap.
 */
export const HEADERS = {
  name: [
    'name',
    'restaurant',
    'restaurant name',
    'venue',
    'place',
    'title',
    'lokal',
    'betrieb',
    'nom',
    'nombre',
    'names.primary',
    'tags.name',
  ],
  city: [
    'city',
    'town',
    'ort',
    'stadt',
    'ville',
    'ciudad',
    'città',
    'where',
    'addr:city',
    'addresses.0.locality',
    'tags.addr:city',
  ],
  id: ['service_id', 'restaurant_id'],
  address: [
    'address',
    'street address',
    'full address',
    'street',
    'adresse',
    'anschrift',
    'straße',
    'strasse',
    'dirección',
    'indirizzo',
    'addresses.0.freeform',
  ],
  lat: ['lat', 'latitude', 'breite', 'breitengrad', 'latitud', 'geo lat'],
  lng: ['lng', 'lon', 'long', 'longitude', 'länge', 'längengrad', 'longitud', 'geo lng', 'geo lon'],
} as const;

export type Field = keyof typeof HEADERS;
export const FIELDS = Object.keys(HEADERS) as readonly Field[];

/** Normalizes a header name: `Restaurant_Name` equals `restaurant name`, and `Lat.` equals `lat`. */
export const plain = (column: string): string =>
  column
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s_.]/g, '');

const KNOWN_HEADERS: ReadonlySet<string> = new Set(
  Object.values(HEADERS).flatMap((headers) => headers.map(plain)),
);

export const isKnownHeader = (column: string): boolean => KNOWN_HEADERS.has(plain(column));

export const NESTED_HEADERS = Object.values(HEADERS).flatMap((headers) =>
  headers.filter((header) => header.includes('.')),
);

import { cleanLine, label } from '../util/text.ts';
import { pointOf } from './geojson.ts';
import type { Presentation, PresentOptions } from './presentation.ts';
import { cellAt, isRecord, type Scalar, tabulate } from './records.ts';

/** Not allowed in XML 1.0, not even escaped. */
const FORBIDDEN = /[\ufffe\uffff]/g;

/**
 * The records as KML 2.2 (OGC 12-007r2): a placemark each, with the columns as extended data. A record without usable
 * coordinates is a placemark without a point.
 */
export function writeKml({ records, columns: own }: Presentation, { columns }: PresentOptions): string {
  const { keys, rows } = tabulate(records, columns ?? own);
  const placemarks = records.map((record, index) => placemark(record, keys, rows[index] ?? []));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<kml xmlns="http://www.opengis.net/kml/2.2">',
    '<Document>',
    '<name>Restaurants</name>',
    ...placemarks,
    '</Document>',
    '</kml>',
    '',
  ].join('\n');
}

function placemark(record: unknown, keys: readonly string[], cells: readonly Scalar[]): string {
  const fields = isRecord(record) ? record : {};
  const point = pointOf(fields.coordinates);
  const [lng, lat] = [cellAt(record, 'coordinates.lng'), cellAt(record, 'coordinates.lat')];
  const data = keys.flatMap((key, index) => {
    const value = cells[index] ?? null;
    if (value === null) return [];
    const name = escapeXml(key);
    return [
      `<Data name="${name}"><displayName>${escapeXml(label(key))}</displayName><value>${escapeXml(value)}</value></Data>`,
    ];
  });
  return [
    '<Placemark>',
    ...element('name', fields.name ?? fields.service_id),
    ...element('address', fields.address),
    `<ExtendedData>${data.join('')}</ExtendedData>`,
    ...(point === undefined ? [] : [`<Point><coordinates>${lng},${lat}</coordinates></Point>`]),
    '</Placemark>',
  ].join('\n');
}

function element(name: string, value: unknown): string[] {
  return typeof value === 'string' && value !== '' ? [`<${name}>${escapeXml(value)}</${name}>`] : [];
}

function escapeXml(value: unknown): string {
  return cleanLine(String(value))
    .replace(FORBIDDEN, '\ufffd')
    .replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

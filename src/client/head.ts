import { AppError } from '../errors.ts';
import { tooLarge } from './body.ts';
import { firstValue, type HeaderFields } from './exchange.ts';

/** @throws {AppError} for answers whose body is not wanted: redirects, unknown statuses, one that is too large */
export function assertReadable(endpoint: URL, status: number, headers: HeaderFields, maxBytes: number): void {
  const { host } = endpoint;
  if (status < 200 || status > 599) {
    throw new AppError('bad_response', `${host} answered with the unknown or unasked status ${status}`, {
      status,
    });
  }
  // RFC 9110, section 15.3.6: whatever follows a 205 is not its content.
  if (status === 205)
    throw new AppError('bad_response', `${host} answered with 205, which holds no answer`, { status });
  if (status >= 300 && status < 400) {
    throw new AppError(
      'http_error',
      `${host} redirects ${destination(endpoint, headers)} (${status}); not followed`,
      {
        status,
        hint: 'check the base URL: restaurant status',
      },
    );
  }
  const length = Number(firstValue(headers['content-length']) ?? 0);
  if (length > maxBytes) throw tooLarge(maxBytes);
}

function destination(endpoint: URL, headers: HeaderFields): string {
  const location = firstValue(headers.location);
  if (location === undefined) return 'without saying where';
  if (!URL.canParse(location, endpoint.href)) return 'to what is no URL';
  const url = new URL(location, endpoint);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `to a ${url.protocol} URL`;
  return endpoint.protocol === 'https:' && url.protocol === 'http:'
    ? `to unprotected http at ${url.host}`
    : `to ${url.host}`;
}

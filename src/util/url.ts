import { attempt } from '../errors.ts';
/** Unlike `URL.canParse`, accepts hosts with accented letters in every version of Node.js. */
export const parseUrl = (text: string, base?: string): URL | undefined => attempt(() => new URL(text, base));

const SECRET_NAME = /pass|pwd|secret|token|key|auth|sig/i;

/**
 * Masks user, password, and secrets in the query of a URL, which may be invalid or lack its scheme. A password may
 * contain any character, so everything up to the last `@` is masked, unless it is a valid http URL without a user.
 */
export function maskUrl(text: string): string {
  const url = parseUrl(text);
  const hasNoUser = /^https?:$/.test(url?.protocol ?? '') && `${url?.username}${url?.password}` === '';
  const [scheme = ''] = /^\s*[a-z][a-z0-9+.-]*:\/\//i.exec(text) ?? [];
  const at = hasNoUser ? -1 : text.lastIndexOf('@');
  const rest = at < scheme.length ? text.slice(scheme.length) : `…${text.slice(at)}`;
  return (
    scheme +
    rest.replace(/([?&])([^?&=#]*)=[^&#]*/g, (parameter, start, name) =>
      SECRET_NAME.test(name) ? `${start}${name}=…` : parameter,
    )
  );
}

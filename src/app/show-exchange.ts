import type { TraceEvent } from '../client/http/transport.ts';
import { maskUrl } from '../util/url.ts';
import type { App } from './app.ts';

/** Maximum number of characters of a body that --verbose shows. */
const MAX_BODY = 4000;

/** Prints a part of the exchange on stderr, as `curl -v` does: `>` sent, `<` received, `*` notes. */
export function showExchange(app: App, event: TraceEvent): void {
  const show = (mark: string, text: string): void => {
    const cut = text.length > MAX_BODY ? `${text.slice(0, MAX_BODY)}… (${text.length} characters)` : text;
    for (const line of cut.split(/\r?\n/)) void app.notes.trace(`${mark} ${line}`);
  };
  if (event.kind === 'body' || event.kind === 'note') {
    show(event.kind === 'body' ? '<' : '*', event.text);
    return;
  }
  const mark = event.kind === 'request' ? '>' : '<';
  if (event.kind === 'request') show(mark, `${event.method} ${maskUrl(event.url)}`);
  else show(mark, `${event.status} ${event.statusText}`.trim());
  for (const [name, value] of event.headers) show(mark, `${name}: ${value}`);
  if (event.kind === 'request' && event.body !== undefined) show(mark, event.body);
}

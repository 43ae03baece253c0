import type { TraceEvent } from '../client/http/exchange.ts';
import type { App } from './app.ts';

/** Most of a body that is shown, in characters. */
const MOST = 4000;

const shown = (body: string): string =>
  body.length > MOST ? `${body.slice(0, MOST)}… (${body.length} characters)` : body;

/** Shows the exchange on stderr, the way `curl -v` does: `>` sent, `<` received, `*` about it. */
export function traceTo(app: App): (event: TraceEvent) => void {
  const say = (mark: string, text: string): void => {
    for (const line of text.split(/\r?\n/)) void app.trace(`${mark} ${line}`);
  };
  return (event) => {
    switch (event.kind) {
      case 'request':
        say('>', `${event.method} ${event.url}`);
        for (const [name, value] of event.headers) say('>', `${name}: ${value}`);
        if (event.body !== undefined) say('>', shown(event.body));
        break;
      case 'response':
        say('<', `${event.status} ${event.statusText}`.trim());
        for (const [name, value] of event.headers) say('<', `${name}: ${value}`);
        break;
      case 'body':
        say('<', shown(event.text));
        break;
      case 'note':
        say('*', event.text);
        break;
    }
  };
}

import type { HttpReply } from './http.ts';

/** The events of a whole stream as they were written: comments left out, an event without its blank line dropped. */
export function eventsOf({ text }: HttpReply): { event?: string; data: string }[] {
  const blocks = text.split('\n\n').slice(0, -1);
  const events = blocks.map((block) =>
    Object.fromEntries(
      block
        .split('\n')
        .filter((line) => !line.startsWith(':'))
        .map((line) => /^(\w+): ?(.*)$/.exec(line)?.slice(1) ?? ['', '']),
    ),
  );
  return events.filter((event) => 'data' in event);
}

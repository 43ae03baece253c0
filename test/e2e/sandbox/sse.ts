import type { HttpReply } from './http.ts';

/** Returns the events of a complete stream, without comments and without an event that has no blank line. */
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

import type { Found, Streamed } from './answer.ts';
import { parseJson } from './json.ts';
import { findReply, isObject, isReply, type JsonObject } from './rpc.ts';
import type { SseEvent } from './sse.ts';

/** What is left of a stream that ended without our response: enough to take it up again. */
export interface Thread {
  readonly lastEventId: string | undefined;
  readonly retryMs: number | undefined;
}

export interface EventReader extends Streamed {
  /** @returns `stop` when the response was among them */
  onEvent(event: SseEvent): 'stop' | undefined;
  thread(): Thread;
}

/** Looks for the response to request `id` among the events of a stream. */
export function eventReader(
  id: number,
  erase: (text: string) => string,
  onMessage?: (message: JsonObject) => void,
): EventReader {
  let found: Found | undefined;
  let strayed = false;
  let lastEventId: string | undefined;
  let retryMs: number | undefined;
  return {
    onEvent(event: SseEvent): 'stop' | undefined {
      lastEventId = event.id ?? lastEventId;
      retryMs = event.retry ?? retryMs;
      if (event.data === '' || (event.event ?? 'message') !== 'message') return undefined;
      const text = erase(event.data);
      const value = parseEvent(text, event.unfinished === true);
      const envelope = findReply(value, id, 'stream');
      if (envelope !== undefined) {
        found = { envelope, text };
        return 'stop';
      }
      for (const message of Array.isArray(value) ? value : [value]) {
        if (isReply(message)) strayed = true;
        else if (isObject(message) && typeof message.method === 'string') onMessage?.(message);
      }
      return undefined;
    },
    found: () => found,
    strayed: () => strayed,
    thread: (): Thread => ({ lastEventId, retryMs }),
  };
}

/** What an unfinished event holds counts only if it is whole. */
function parseEvent(text: string, unfinished: boolean): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (unfinished) return undefined;
    throw error;
  }
}

import { createParser } from 'eventsource-parser';
import { AppError } from '../../errors.ts';

/** One block of an event stream. Its data is empty without a `data:` line (blocks that only set an id). */
export interface SseEvent {
  readonly event?: string;
  readonly data: string;
  readonly id?: string;
  /** Milliseconds to wait before reconnecting. */
  readonly retry?: number;
  /** The stream ended before the blank line that closes the block; the standard discards such a block. */
  readonly unfinished?: true;
}

export interface SseDecoder {
  /** @throws {AppError} `bad_response` when one event is longer than the limit */
  feed(text: string): void;
  /** Ends the stream: emits the pending block, marked as unfinished. */
  end(): void;
}

/** Decodes server-sent events (HTML standard, section 9.2.6) from text that may be split anywhere. */
export function sseDecoder(maxChars: number, onEvent: (event: SseEvent) => void): SseDecoder {
  /** The id of a block for which no data has come. */
  let idOnly: string | undefined;
  let isEnding = false;

  const parser = createParser({
    maxBufferSize: maxChars,
    onId(id) {
      flush();
      idOnly = id;
    },
    onRetry(retry) {
      flush();
      emit({ data: '', retry });
    },
    onEvent({ id, event, data }) {
      if (id === undefined) flush();
      idOnly = undefined;
      emit({ ...(event === undefined ? {} : { event }), data, ...(id === undefined ? {} : { id }) });
    },
    onError({ type }) {
      if (type !== 'max-buffer-size-exceeded') return;
      throw new AppError('bad_response', `an event of the response is longer than ${maxChars} characters`);
    },
  });

  const emit = (event: SseEvent): void => onEvent(isEnding ? { ...event, unfinished: true } : event);

  function flush(): void {
    if (idOnly !== undefined) emit({ data: '', id: idOnly });
    idOnly = undefined;
  }

  function feed(text: string): void {
    parser.feed(text);
    flush();
  }

  return {
    feed,
    end() {
      isEnding = true;
      feed('\n\n');
    },
  };
}

import { createParser } from 'eventsource-parser';
import { AppError } from '../../errors.ts';

/** One block of an event stream. Without a `data:` line its data is empty (blocks that only set an id). */
export interface SseEvent {
  readonly event?: string;
  readonly data: string;
  readonly id?: string;
  /** Milliseconds to wait before connecting again. */
  readonly retry?: number;
  /** The stream ended before the blank line that closes a block; the standard would discard it. */
  readonly unfinished?: true;
}

export interface SseDecoder {
  /** @throws {AppError} `bad_response` when one event exceeds the limit. */
  feed(text: string): void;
  /** The stream ended in good order: hands out what is pending, marked as unfinished. */
  end(): void;
}

/**
 * Decodes server-sent events (HTML standard, section 9.2.6) from decoded text cut anywhere.
 * Lines are given to the parser one by one, ended by LF: it would hold back a CR at the end of its input, and it
 * keeps silent about blocks that have only an id.
 */
export function sseDecoder(maxChars: number, onEvent: (event: SseEvent) => void): SseDecoder {
  let line: string[] = [];
  let lineLength = 0;
  let afterCr = false;
  let id: string | undefined;
  let retry: number | undefined;
  let blockHasLines = false;
  let message: { event?: string | undefined; data: string } | undefined;

  const parser = createParser({
    maxBufferSize: maxChars,
    onEvent: (event) => {
      message = event;
    },
    onRetry: (ms) => {
      retry = ms;
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') throw tooLarge(maxChars);
    },
  });

  function take(text: string, unfinished: boolean): void {
    message = undefined;
    parser.feed(`${text}\n`);
    if (text !== '') {
      blockHasLines = true;
      id = idOf(text) ?? id;
      return;
    }
    if (message !== undefined || id !== undefined || retry !== undefined) emit(message, unfinished);
    id = undefined;
    retry = undefined;
    blockHasLines = false;
  }

  function emit(found: { event?: string | undefined; data: string } | undefined, unfinished: boolean): void {
    onEvent({
      ...(found?.event === undefined ? {} : { event: found.event }),
      data: found?.data ?? '',
      ...(id === undefined ? {} : { id }),
      ...(retry === undefined ? {} : { retry }),
      ...(unfinished ? { unfinished } : {}),
    });
  }

  return {
    feed(chunk) {
      if (chunk === '') return;
      let text = afterCr && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
      afterCr = chunk.endsWith('\r');
      if (text.includes('\r')) text = text.replace(/\r\n?/g, '\n');
      let start = 0;
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
        line.push(text.slice(start, end));
        const whole = line.join('');
        line = [];
        lineLength = 0;
        start = end + 1;
        take(whole, false);
      }
      line.push(text.slice(start));
      lineLength += text.length - start;
      if (lineLength > maxChars) throw tooLarge(maxChars);
    },
    end() {
      const rest = line.join('');
      line = [];
      if (rest !== '') take(rest, true);
      if (blockHasLines) take('', true);
    },
  };
}

/** Value of an `id` line. One with a NUL does not count. */
function idOf(line: string): string | undefined {
  const value = /^id(?:: ?(.*))?$/s.exec(line);
  if (value === null || line.includes('\0')) return undefined;
  return value[1] ?? '';
}

function tooLarge(maxChars: number): AppError {
  return new AppError('bad_response', `an event of the answer is longer than ${maxChars} characters`);
}

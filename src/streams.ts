import type { Readable, Writable } from 'node:stream';
import type { Input, Output } from './context.ts';
import { AppError, PipeClosed, systemCode } from './errors.ts';

type TerminalStream = Writable & { isTTY?: boolean; columns?: number };

/** What a failed write on a stream means for us. */
function writeFailure(error: Error, name: string): Error {
  const code = systemCode(error);
  if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return new PipeClosed(`${name} was closed`);
  const why = code === 'ENOSPC' ? 'the disk is full' : (code ?? 'it failed');
  return new AppError('io_error', `cannot write to ${name}: ${why}`, {
    cause: error,
    hint: 'send it to a place with room: restaurant … > <file>',
  });
}

/**
 * Makes an output of one of the process's streams. A failure is told by the write it hits, and by every later one.
 * @param name how the stream is called in messages
 * @param signal ends the wait for a reader that does not read
 */
export function outputTo(stream: TerminalStream, name: string, signal?: AbortSignal): Output {
  let failure: Error | undefined;
  stream.on('error', (error) => {
    failure ??= writeFailure(error, name);
  });
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        if (text === '') return resolve();
        const stop = () => reject(signal?.reason);
        if (signal?.aborted) return stop();
        signal?.addEventListener('abort', stop, { once: true });
        stream.write(text, (error) => {
          signal?.removeEventListener('abort', stop);
          if (!error) return resolve();
          failure ??= writeFailure(error, name);
          reject(failure);
        });
      }),
    get isTTY() {
      return stream.isTTY === true;
    },
    get columns() {
      const { columns } = stream;
      return columns !== undefined && columns > 0 ? columns : 80;
    },
  };
}

/**
 * Makes an input of the process's stdin. The stream is not touched until it is read.
 * @param signal ends the reading with its reason
 */
export function inputFrom(stream: Readable & { isTTY?: boolean }, signal?: AbortSignal): Input {
  return {
    get isTTY() {
      return stream.isTTY === true;
    },
    async *chunks() {
      const stop = () => stream.destroy(signal?.reason);
      if (signal?.aborted) stop();
      signal?.addEventListener('abort', stop, { once: true });
      try {
        for await (const chunk of stream) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      } catch (cause) {
        if (signal?.aborted) throw signal.reason;
        throw new AppError('io_error', `cannot read stdin: ${systemCode(cause) ?? 'it failed'}`, { cause });
      } finally {
        signal?.removeEventListener('abort', stop);
      }
    },
  };
}

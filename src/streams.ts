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
    hint: 'write to another place: restaurant … -o <file>',
  });
}

/**
 * Makes an output of one of the process's streams. A failure is told by the write it hits, and by every later one.
 * @param name how the stream is called in messages
 */
export function outputTo(stream: TerminalStream, name: string): Output {
  let failure: Error | undefined;
  stream.on('error', (error) => {
    failure ??= writeFailure(error, name);
  });
  return {
    write: (text) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        if (text === '') return resolve();
        stream.write(text, (error) => {
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

/** Makes an input of the process's stdin. The stream is not touched until it is read. */
export function inputFrom(stream: Readable & { isTTY?: boolean }): Input {
  return {
    get isTTY() {
      return stream.isTTY === true;
    },
    async *chunks() {
      try {
        for await (const chunk of stream) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
      } catch (cause) {
        throw new AppError('io_error', `cannot read stdin: ${systemCode(cause) ?? 'it failed'}`, { cause });
      }
    },
  };
}

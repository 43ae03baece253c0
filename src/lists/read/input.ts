import { fullPath } from '../../app/output-file.ts';
import type { Context } from '../../context.ts';
import { AppError, failure } from '../../errors.ts';
import { again, slot } from '../../hint.ts';
import { EXTENSIONS, extensionOf } from '../../output/formats.ts';
import { ioError, ioReason } from '../../storage/files.ts';
import { openUserInput, type UserInput } from '../../storage/user-files.ts';
import { INPUT_FORMATS, type InputFormat } from '../row.ts';

export interface Input {
  readonly name: string;
  /** The open file; undefined for a stream. */
  readonly file?: UserInput;
  readonly format: InputFormat | undefined;
  readonly signal: AbortSignal;
  chunks(): AsyncIterable<Uint8Array>;
  close(): void;
}

/** GeoJSON with one Feature per line. */
const FEATURE_LINES = ['geojsonl', 'geojsons'];

function formatOf(path: string): InputFormat | undefined {
  const extension = extensionOf(path);
  const format = FEATURE_LINES.includes(extension) ? 'ndjson' : EXTENSIONS.get(extension);
  return INPUT_FORMATS.find((each) => each === format);
}

const INPUT_HINT = { command: again({}, { operands: [slot('file')] }) };

type InputContext = Pick<Context, 'stdin' | 'cwd' | 'env' | 'homedir' | 'platform' | 'signal'>;

/** @param file a path, or `-` for stdin. It stays open, so it can be moved meanwhile. @throws {AppError} `bad_input` */
export function openInput(file: string, context: InputContext): Input {
  if (file === '-') {
    const { stdin, signal } = context;
    const chunks = () => stdin.chunks();
    return { name: 'stdin', format: undefined, signal, chunks, close() {} };
  }
  if (file === '') throw failure('bad_input', "the file name is empty: ''", INPUT_HINT);
  const input = openFile(file, context);
  const { stats } = input;
  if (stats.isDirectory()) {
    input.close();
    throw failure('bad_input', `${file} is a folder`, { text: 'name a file', ...INPUT_HINT });
  }
  return {
    name: file,
    format: formatOf(file),
    ...(stats.isFile() && { file: input }),
    signal: context.signal,
    chunks: () => readChunks(input, file, context.signal),
    close: input.close,
  };
}

function openFile(file: string, context: InputContext): UserInput {
  const path = fullPath(context, file);
  try {
    return openUserInput(path, context, file);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw failure('bad_input', `cannot read ${file}: ${ioReason(cause)}`, INPUT_HINT, cause);
  }
}

async function* readChunks(input: UserInput, file: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* input.chunks(signal);
  } catch (cause) {
    throw ioError('read', file, cause);
  }
}

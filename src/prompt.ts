import type { Readable, Writable } from 'node:stream';
import { isCancel, password, text } from '@clack/prompts';
import { AppError } from './errors.ts';

/** Where a question is asked, and what ends it. */
export interface PromptStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
}

function answered(answer: string | symbol, streams: PromptStreams): string {
  if (streams.signal.aborted) throw streams.signal.reason;
  if (isCancel(answer)) throw new AppError('interrupted', 'interrupted at the prompt');
  return answer as string;
}

/** Asks for a secret, which is not shown. @throws {AppError} `interrupted` on Ctrl-C. */
export async function askSecret(message: string, streams: PromptStreams): Promise<string> {
  return answered(await password({ message, mask: '*', ...streams }), streams);
}

/** Asks for a line. @throws {AppError} `interrupted` on Ctrl-C. */
export async function askText(
  message: string,
  placeholder: string | undefined,
  streams: PromptStreams,
): Promise<string> {
  return answered(await text({ message, placeholder, ...streams }), streams);
}

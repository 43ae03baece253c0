import type { AppError } from '../errors.ts';
import { mapStrings } from '../util/json.ts';
import { type HeaderField, isHarmless, type RequestHeaders } from './http/headers.ts';
import type { TraceEvent } from './http/transport.ts';
import { keyMasker, redactor, secretsIn } from './key.ts';

interface MaskOptions {
  readonly headers?: RequestHeaders | undefined;
  trace?(event: TraceEvent): void;
}

export type Masks = ReturnType<typeof createMasks>;

/** Functions that keep the key and secret headers out of data, errors, and traces. */
export function createMasks(options: MaskOptions, apiKey: string | undefined, host: string) {
  const secrets = new Map(
    Object.entries(options.headers ?? {})
      .filter(([name, value]) => !isHarmless(name) && value.trim() !== '')
      .map(([name, value]) => [name.toLowerCase(), value.trim()]),
  );
  const values = [...secrets.values()].flatMap(secretsIn);
  const masks = [keyMasker(apiKey), ...values.map((value) => keyMasker(value, '', '…'))];
  /** For data: changes nothing but these secrets. */
  const mask = (text: string): string => masks.reduce((masked, each) => each(masked), text);
  const redactKeys = redactor();
  /** For people: also masks what looks like a key. */
  const redact = (text: string): string => redactKeys(mask(text));

  function trace(event: TraceEvent): void {
    const hideSecret = ([name, value]: HeaderField): HeaderField => [
      name,
      secrets.has(name.toLowerCase()) ? '…' : value,
    ];
    const shown = 'headers' in event ? { ...event, headers: event.headers.map(hideSecret) } : event;
    options.trace?.(mapStrings(shown, redact));
  }
  return {
    hasSecrets: apiKey !== undefined || secrets.size > 0,
    mask,
    redact,
    /** Redacts an error of a call, whose message also gets the host if it is about a response and does not name it. */
    redactError(error: AppError): AppError {
      const { host: named, serviceMessage } = error.details;
      let message = error.message;
      if (named === undefined && serviceMessage !== undefined) message = `${host} says: ${message}`;
      else if (named === undefined && error.kind === 'service') message = `${host}: ${message}`;
      message = redact(message);
      // An error of `onRequest` stays the same object.
      if (message === error.message) return error;
      return error.withMessage(message, { host, serviceMessage: serviceMessage && redact(serviceMessage) });
    },
    trace: options.trace && trace,
  };
}

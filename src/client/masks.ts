import { mapStrings } from '../util/json.ts';
import { type HeaderField, isHarmless, type RequestHeaders } from './http/headers.ts';
import type { TraceEvent } from './http/transport.ts';
import { keyMasker, redactor, secretsIn } from './key.ts';

interface MaskOptions {
  readonly headers?: RequestHeaders | undefined;
  mask?(text: string): string;
  trace?(event: TraceEvent): void;
}

export type Masks = ReturnType<typeof createMasks>;

/** Functions that keep the key and secret headers out of data, errors, and traces. */
export function createMasks(options: MaskOptions, apiKey: string | undefined) {
  const secrets = new Map(
    Object.entries(options.headers ?? {})
      .filter(([name, value]) => !isHarmless(name) && value.trim() !== '')
      .map(([name, value]) => [name.toLowerCase(), value.trim()]),
  );
  const values = [...secrets.values()].flatMap(secretsIn);
  const own = [keyMasker(apiKey), ...values.map((value) => keyMasker(value, '', '…'))];
  const masks = options.mask === undefined ? own : [...own, options.mask];
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
    trace: options.trace && trace,
  };
}

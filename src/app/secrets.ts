import { DEFAULT_KEY_PREFIX, keyMasker, redactor } from '../client/key.ts';
import { variable } from '../settings/settings.ts';

/** Minimum length of a secret. A shorter one would be masked inside ordinary words. */
const MIN_SECRET = 8;

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment of other programs. */
export function withoutKey({ RESTAURANT_API_KEY: _, ...env }: Environment): Environment {
  return env;
}

type TextChange = (text: string) => string;

export class Secrets {
  /** The API key of the environment, which overrides all others. */
  readonly environmentKey: string | undefined;
  commandKey: string | undefined;
  readonly #maskers = new Map<string, TextChange>();
  readonly #prefix: () => string | null;
  #redactors: readonly TextChange[] | undefined;

  constructor(env: Environment, prefix: () => string | null) {
    this.environmentKey = variable(env, 'RESTAURANT_API_KEY');
    this.#prefix = prefix;
    this.register(this.environmentKey?.trim() ?? '');
  }

  register(secret: string): void {
    if (secret.length >= MIN_SECRET && !this.#maskers.has(secret)) {
      this.#maskers.set(secret, keyMasker(secret));
    }
  }

  /** Masks the secrets, and everything that looks like a key, in text for people. */
  redact(text: string): string {
    const prefixes = new Set([DEFAULT_KEY_PREFIX, this.#prefix() ?? DEFAULT_KEY_PREFIX]);
    this.#redactors ??= [...prefixes].map(redactor);
    return this.#redactors.reduce((redacted, redact) => redact(redacted), this.mask(text));
  }

  mask(text: string): string {
    return [...this.#maskers.values()].reduce((masked, mask) => mask(masked), text);
  }
}

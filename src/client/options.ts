import { AppError } from '../errors.ts';
import { isObject } from '../util/object.ts';

const NUMBERS = ['timeoutMs', 'retries', 'maxWaitMs', 'maxBodyBytes'] as const;

/** Checks the types of a client's options, which JavaScript does not. @throws {AppError} `usage` */
export function assertOptions(options: unknown): void {
  if (!isObject(options)) throw refuse('options', 'an object with endpoint or baseUrl');
  const { apiKey, headers = {} } = options;
  if (apiKey !== undefined && typeof apiKey !== 'string') throw refuse('apiKey', 'a string');
  const areTexts = isObject(headers) && Object.values(headers).every((value) => typeof value === 'string');
  if (!areTexts) throw refuse('headers', 'an object of strings');
  for (const name of NUMBERS) {
    const value = options[name];
    const isValid = value === undefined || (typeof value === 'number' && value >= 0);
    if (!isValid) throw refuse(name, 'a number that is not negative');
  }
}

const refuse = (name: string, expected: string): AppError =>
  new AppError('usage', `createClient: ${name} must be ${expected}`);

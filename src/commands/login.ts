import { statSync } from 'node:fs';
import type { App } from '../app/app.ts';
import { readAllText } from '../app/input.ts';
import { fullPath, writeText } from '../app/output.ts';
import { openClientFor } from '../app/service.ts';
import { configuredEndpoint, type FoundEndpoint, loginCommand, requestHeaders } from '../app/target.ts';
import type { CliCommand } from '../cli/command.ts';
import { boolean, object, text, textOrNull } from '../cli/schemas.ts';
import { assertMayCarryKey, endpointFromBase, withScheme } from '../client/endpoint.ts';
import { checkKey, keySuffix } from '../client/key.ts';
import { AppError } from '../errors.ts';
import { variable } from '../settings/settings.ts';
import { type ConfigStore, openConfigStore } from '../storage/config-file.ts';
import { readPath } from '../storage/files.ts';
import { ioReason } from '../storage/io-error.ts';

/** Schema of what `login --json` prints. */
const LOGIN_OUTPUT = object({
  profile: text,
  endpoint: textOrNull,
  key: object({ last4: text }),
  verified: boolean,
  file: text,
  key_in_environment: boolean,
});

/** Adds `login` to the program. */
export function registerLogin(program: CliCommand, app: App, action = login): void {
  program
    .command('login')
    .summary('save the API key, and which service it is for')
    .description('Save the API key, and which service it is for. One call proves the key first.')
    .option('--key-stdin', 'read the key from stdin')
    .option('--key-file <path>', 'read the key from a file')
    .option('--no-verify', 'save without asking the service')
    .usesOptions('address', 'profile', 'request', 'json')
    .outputSchema(LOGIN_OUTPUT)
    .examples(
      'restaurant login',
      'restaurant login --base-url https://api.example.com --key-stdin < key.txt',
      'restaurant login --profile work --key-file key.txt',
    )
    .notes('No option takes the key itself: others could read it from the list of processes.')
    .action((options: LoginOptions) => action(app, options));
}

/** Options of `login` as commander gives them. */
interface LoginOptions {
  keyStdin?: true;
  keyFile?: string;
  verify: boolean;
}

/** Far above any key, in bytes. */
const MOST_OF_A_KEY = 1024 * 1024;
const FLAGS_HINT = 'restaurant login --key-stdin < key.txt, or --key-file key.txt, or set RESTAURANT_API_KEY';

/** Saves a key: gets it, proves it with one call, writes it. A refused key is not saved. */
async function login(app: App, options: LoginOptions): Promise<void> {
  app.config();
  const store = openConfigStore(app.configDir, { warn: (text) => void app.warn(text) });
  const place = await findPlace(app, options);
  if (place !== undefined) assertMayCarryKey(place.url, app.globals.insecureHttp === true);
  const key = checkKey(await givenKey(app, options, place), app.settings.need('key-prefix'));
  app.registerSecret(key);
  if (place !== undefined && options.verify) await prove(app, place, key);
  await save(app, store, place, key);
  const { profileName } = app.settings;
  const facts = {
    profile: profileName,
    endpoint: place?.url.href ?? null,
    key: { last4: keySuffix(key) },
    verified: place !== undefined && options.verify,
    file: store.path,
    key_in_environment: variable(app.context.env, 'RESTAURANT_API_KEY') !== undefined,
  };
  const where = place === undefined ? 'no service yet: restaurant login --base-url <url>' : place.url.host;
  const tried = facts.verified ? '' : ' (the key was not tried)';
  const beaten = facts.key_in_environment
    ? 'RESTAURANT_API_KEY holds a key, which is used instead: unset RESTAURANT_API_KEY\n'
    : '';
  await writeText(
    app,
    facts,
    () =>
      `Logged in to ${where}${tried}\nKey …${facts.key.last4} saved in ${store.path}, profile ${profileName}\n${beaten}`,
  );
}

/** The service that the key is for: as set, else asked for at a terminal. */
async function findPlace(app: App, options: LoginOptions): Promise<FoundEndpoint | undefined> {
  const found = configuredEndpoint(app);
  if (found !== undefined) return found;
  if (app.canPrompt && options.keyStdin !== true) {
    const answer = await app.context.prompt.text('Address of the service', 'https://api.example.com');
    return { url: endpointFromBase(answer), from: { base_url: withScheme(answer) } };
  }
  if (!options.verify) return undefined;
  throw new AppError('no_service', 'no service is configured', {
    hint: 'restaurant login --base-url <url>',
  });
}

async function givenKey(app: App, options: LoginOptions, place: FoundEndpoint | undefined): Promise<string> {
  if (options.keyStdin === true && options.keyFile !== undefined) {
    throw new AppError('usage', '--key-stdin and --key-file contradict each other', { hint: FLAGS_HINT });
  }
  // At a terminal stdin would show the key as it is typed; the prompt does not.
  const typed = app.context.stdin.isTTY && (options.keyStdin === true || options.keyFile === '-');
  if (options.keyStdin === true && !typed) return readAllText(app, 'the key');
  if (options.keyFile !== undefined && !typed) return keyFromFile(app, options.keyFile);
  if (app.canPrompt)
    return app.context.prompt.secret(`API key${place === undefined ? '' : ` for ${place.url.host}`}`);
  throw new AppError('usage', 'there is no terminal to ask for the key at', { hint: FLAGS_HINT });
}

async function keyFromFile(app: App, path: string): Promise<string> {
  if (path === '-') return readAllText(app, 'the key');
  const full = fullPath(app.context, path);
  try {
    if ((statSync(full).mode & 0o077) !== 0 && app.context.platform !== 'win32') {
      await app.warn(`${full} can be read by other users: chmod 600 keeps it yours`);
    }
    return readPath(full, MOST_OF_A_KEY).toString('utf8');
  } catch (cause) {
    throw new AppError('bad_input', `cannot read the key from ${path}: ${ioReason(cause)}`, {
      cause,
      hint: FLAGS_HINT,
    });
  }
}

/** One call with the key. What the service says to it is the run's failure, and nothing is saved. */
async function prove(app: App, place: FoundEndpoint, key: string): Promise<void> {
  const client = openClientFor(app, {
    url: place.url,
    key,
    headers: requestHeaders(app, place.url),
    demo: false,
  });
  try {
    await app.withSpinner(`asking ${place.url.host}`, () => client.check());
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unauthorized') throw error;
    throw new AppError(
      'unauthorized',
      `${place.url.host} refused the key …${keySuffix(key)}; nothing was saved`,
      {
        ...error.details,
        hint: `check the key in the developer portal, then: ${loginCommand(app)}`,
      },
    );
  }
}

async function save(
  app: App,
  store: ConfigStore,
  place: FoundEndpoint | undefined,
  key: string,
): Promise<void> {
  const name = app.settings.profileName;
  await store.update((file) => {
    file.profiles ??= {};
    const profile = Object.hasOwn(file.profiles, name) ? (file.profiles[name] ?? {}) : {};
    profile.key = key;
    if (place === undefined) delete profile.key_origin;
    else profile.key_origin = place.url.origin;
    if (place?.from !== undefined) {
      delete profile.base_url;
      delete profile.endpoint;
      Object.assign(profile, place.from);
    }
    file.profiles[name] = profile;
  });
}

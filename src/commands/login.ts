import { configuredEndpoint, requireProfile } from '../app/address.ts';
import type { App } from '../app/app.ts';
import { loginCommand, requestHeaders } from '../app/credentials.ts';
import { decodeText, readAllText } from '../app/input.ts';
import { writeText } from '../app/output.ts';
import { fullPath } from '../app/output-file.ts';
import { type CliCommand, CliOption } from '../cli/command.ts';
import { boolean, list, object, text, textOrNull } from '../cli/schemas.ts';
import { assertMayCarryKey, endpointFromBase, withScheme } from '../client/endpoint.ts';
import { checkKey, isLongEnough, keySuffix, MIN_KEY_CHARS } from '../client/key.ts';
import { AppError, failure, usage } from '../errors.ts';
import { type Hint, restaurant, system } from '../hint.ts';
import { profileOf, sweepConfig } from '../storage/config-file.ts';
import { ioReason } from '../storage/files.ts';
import { isShared } from '../storage/trust.ts';
import { readUserFile } from '../storage/user-files.ts';

const LOGIN_OUTPUT = object({
  profile: text,
  endpoint: textOrNull,
  key: object({ last4: text }),
  verified: boolean,
  file: text,
  key_in_environment: boolean,
});

interface LoginOptions {
  keyStdin?: true;
  keyFile?: string;
  verify: boolean;
}

export function registerLogin(command: CliCommand, app: App): void {
  command
    .about('Save the API key and the address of its service', 'One request verifies the key first.')
    .addOption(new CliOption('--key-stdin', 'Read the key from stdin').conflicts('keyFile'))
    .option('--key-file <path>', 'Read the key from a file')
    .option('--no-verify', 'Save without sending a request')
    .usesOptions('address', 'profile', 'request', 'json')
    .outputSchema(LOGIN_OUTPUT)
    .examples(
      'restaurant login',
      'restaurant login --base-url https://api.example.com --key-stdin < key.txt',
      'restaurant login --profile work --key-file key.txt',
    )
    .notes('No option takes the key itself, because other users could read it in the process list.')
    .action((options: LoginOptions) => login(app, options));
}

const MAX_KEY_BYTES = 1024 * 1024;
const MAX_ATTEMPTS = 3;
const FLAGS_HINT: Hint = [
  { text: 'at a terminal, it asks for the key', command: restaurant('login') },
  { text: 'or name a file with --key-file, pipe the key to --key-stdin, or set RESTAURANT_API_KEY' },
];

async function login(app: App, options: LoginOptions): Promise<void> {
  app.config.file();
  const file = app.config.path;
  const service = await findService(app, options);
  if (service !== undefined) assertMayCarryKey(service.url, app.globals.insecureHttp === true);
  const key = await acceptedKey(app, options, service);
  await save(app, service, key);
  const facts = {
    profile: app.settings.profileName,
    endpoint: service?.url.href ?? null,
    key: { last4: keySuffix(key) },
    verified: service !== undefined && options.verify,
    file,
    key_in_environment: app.secrets.environmentKey !== undefined,
  };
  const lines = [
    service === undefined
      ? 'No service yet; restaurant login asks for its address'
      : `Logged in to ${service.url.host}${facts.verified ? '' : ' (key not verified)'}`,
    `Saved key …${facts.key.last4} in ${file} (profile ${facts.profile})`,
  ];
  if (facts.key_in_environment) {
    lines.push('RESTAURANT_API_KEY overrides the saved key; to use the saved key: unset RESTAURANT_API_KEY');
  }
  await writeText(app, facts, () => `${lines.join('\n')}\n`);
}

interface LoginService {
  readonly url: URL;
  readonly typed?: string;
}

async function findService(app: App, options: LoginOptions): Promise<LoginService | undefined> {
  const endpoint = configuredEndpoint(app);
  if (endpoint !== undefined) return endpoint;
  if (app.terminal.canPrompt && options.keyStdin !== true) {
    const typed = await app.context.prompt.text('Address of the service', 'https://api.example.com');
    return { url: endpointFromBase(typed), typed };
  }
  if (!options.verify) return undefined;
  throw failure('no_service', 'no service is configured', [
    { text: 'add --base-url with the address of the service' },
    { text: 'or log in at a terminal, which asks for it', command: restaurant('login') },
  ]);
}

async function acceptedKey(
  app: App,
  options: LoginOptions,
  service: LoginService | undefined,
): Promise<string> {
  const url = options.verify ? service?.url : undefined;
  for (let attempt = 1; ; attempt += 1) {
    const input = await readKey(app, options, service);
    try {
      const key = wellFormedKey(app, input.key);
      const refusal = url && (await refusalOf(app, url, key));
      if (refusal === undefined) return key;
      throw refusal;
    } catch (error) {
      const isWrongKey = error instanceof AppError && ['bad_key', 'unauthorized'].includes(error.code);
      if (!isWrongKey || !input.isTyped || attempt === MAX_ATTEMPTS) throw error;
      await app.notes.note(`${error.message}; try again, or stop with Ctrl-C`);
    }
  }
}

/** @throws {AppError} `bad_key` */
function wellFormedKey(app: App, input: string): string {
  const prefix = app.settings.get('key-prefix');
  const key = checkKey(input, prefix);
  if (!isLongEnough(key, prefix)) {
    throw failure('bad_key', `the API key has fewer than ${MIN_KEY_CHARS} characters after ${prefix}`, {
      text: 'copy the whole key from the developer portal',
    });
  }
  app.secrets.register(key);
  return key;
}

async function readKey(
  app: App,
  { keyStdin, keyFile }: LoginOptions,
  service: LoginService | undefined,
): Promise<{ key: string; isTyped: boolean }> {
  const isStdin = keyStdin === true || keyFile === '-';
  // On a terminal, stdin would echo the key; the prompt does not.
  if (isStdin && !app.context.stdin.isTTY) {
    const key = await readAllText(app, 'the key');
    if (key.trim() === '') throw failure('bad_key', 'no API key on stdin', FLAGS_HINT);
    return { key, isTyped: false };
  }
  if (!isStdin && keyFile !== undefined) return { key: await readKeyFile(app, keyFile), isTyped: false };
  if (!app.terminal.canPrompt) {
    throw usage('cannot prompt for the key: there is no terminal, or --no-input or CI is set', FLAGS_HINT);
  }
  const prompt = service === undefined ? 'API key' : `API key for ${service.url.host}`;
  return { key: await app.context.prompt.secret(prompt), isTyped: true };
}

async function readKeyFile(app: App, path: string): Promise<string> {
  const full = fullPath(app.context, path);
  try {
    const { bytes, stats } = await readUserFile(full, MAX_KEY_BYTES, app.context, path);
    if (stats.isFile() && isShared(stats)) {
      await app.notes.warn({
        text: `${full} can be read by other users`,
        command: system('chmod 600', full),
      });
    }
    return decodeText(bytes, path);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw failure('bad_input', `cannot read the key from ${path}: ${ioReason(cause)}`, FLAGS_HINT, cause);
  }
}

async function refusalOf(app: App, url: URL, key: string): Promise<AppError | undefined> {
  const { openService } = await import('../app/service.ts');
  const target = { url, key, headers: requestHeaders(app, url), demo: false };
  const service = await openService(app, { target });
  try {
    const checked = service.client().then((client) => client.check());
    await app.notes.withSpinner(`checking the key with ${url.host}`, checked);
    return undefined;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unauthorized') throw error;
    return error.add({
      consequence: 'nothing was saved',
      hint: { text: 'check the key in the developer portal, then', command: loginCommand(app) },
    });
  }
}

async function save(app: App, service: LoginService | undefined, key: string): Promise<void> {
  const { baseUrl = service?.typed, endpoint } = app.globals;
  await app.config.update((file) => {
    const profile = profileOf(file, app.settings.profileName);
    profile.key = key;
    if (service === undefined) delete profile.key_origin;
    else profile.key_origin = service.url.origin;
    if (baseUrl === undefined && endpoint === undefined) return;
    delete profile.base_url;
    delete profile.endpoint;
    if (endpoint !== undefined) profile.endpoint = withScheme(endpoint);
    else if (baseUrl !== undefined) profile.base_url = withScheme(baseUrl);
  });
}

export function registerLogout(command: CliCommand, app: App): void {
  command
    .about('Delete the saved key and its cached responses', 'The address of the service is kept.')
    .option('--all', 'Delete the keys of all profiles')
    .usesOptions('profile', 'json')
    .outputSchema(
      object({ 'profile?': text, removed: boolean, key_in_environment: boolean, 'profiles?': list(text) }),
    )
    .examples('restaurant logout', 'restaurant logout --all')
    .action(({ all }: { all?: true }) => logout(app, all === true));
}

async function logout(app: App, all: boolean): Promise<void> {
  const { clearAccount } = await import('../storage/cache.ts');
  const { profiles = {} } = app.config.file();
  if (!all) requireProfile(app);
  const { profileName } = app.settings;
  const removed = new Map<string, string>();
  if (Object.keys(profiles).length > 0) {
    await app.config.update((file) => {
      for (const [name, profile] of Object.entries(file.profiles ?? {})) {
        if (!all && name !== profileName) continue;
        if (profile.key !== undefined) removed.set(name, profile.key);
        delete profile.key;
        delete profile.key_origin;
      }
    });
  } else if (app.paths.configFile !== undefined) {
    await sweepConfig(app.paths.configFile);
  }
  for (const key of removed.values()) clearAccount(app.paths.cacheDir, key);
  const isInEnvironment = app.secrets.environmentKey !== undefined;
  const names = [...removed.keys()];
  const facts = {
    ...(all ? { profiles: names } : { profile: profileName }),
    removed: names.length > 0,
    key_in_environment: isInEnvironment,
  };
  const nothing = all ? 'No profile had a key.' : `Profile ${profileName} had no key.`;
  const keys = names.length === 1 ? 'key of profile' : 'keys of profiles';
  const done = names.length > 0 ? `Deleted the saved ${keys} ${names.join(', ')}.` : nothing;
  const inEnvironment = '\nRESTAURANT_API_KEY is still set: unset RESTAURANT_API_KEY';
  const { value: command, source } = app.settings.raw('key-command');
  const remedy = source === 'env' ? 'unset RESTAURANT_KEY_COMMAND' : 'restaurant config unset key-command';
  const fromCommand = !command ? '' : `\nkey-command still prints a key: ${remedy}`;
  const still = isInEnvironment ? inEnvironment : fromCommand;
  await writeText(app, facts, () => `${done}${still}\n`);
}

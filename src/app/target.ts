import {
  assertMayCarryKey,
  endpointFromBase,
  isLoopback,
  parseEndpoint,
  withScheme,
} from '../client/endpoint.ts';
import { checkKey } from '../client/key.ts';
import { AppError } from '../errors.ts';
import { SETTINGS } from '../settings/catalogue.ts';
import { type Source, variable } from '../settings/settings.ts';
import type { App } from './app.ts';

export interface FoundEndpoint {
  readonly url: URL;
  /** What `login` writes into the profile: set where a flag or an answer named the service. */
  readonly from?: { base_url: string } | { endpoint: string };
  readonly source?: Source;
}

/** The endpoint as set by flag, else environment, else profile; the exact endpoint before the base URL. */
export function configuredEndpoint(app: App): FoundEndpoint | undefined {
  const exact = app.settings.resolve('endpoint');
  const base = app.settings.resolve('base-url');
  for (const source of ['flag', 'env', 'config'] as const) {
    if (exact.value !== undefined && exact.source === source) {
      const url = read(parseEndpoint, exact.value, 'endpoint', source);
      return { url, source, ...(source === 'flag' ? { from: { endpoint: withScheme(exact.value) } } : {}) };
    }
    if (base.value !== undefined && base.source === source) {
      const url = read(endpointFromBase, base.value, 'base-url', source);
      return { url, source, ...(source === 'flag' ? { from: { base_url: withScheme(base.value) } } : {}) };
    }
  }
  return undefined;
}

/** The URL; where a variable or the config file gives a wrong one, the error says which. */
function read(
  parse: (text: string) => URL,
  text: string,
  name: 'endpoint' | 'base-url',
  source: Source,
): URL {
  try {
    return parse(text);
  } catch (error) {
    if (source === 'flag' || !(error instanceof AppError)) throw error;
    const place = source === 'env' ? SETTINGS[name].env : `${name} in the config file`;
    const remedy = source === 'env' ? `unset ${place}, or correct it` : `restaurant config set ${name} <url>`;
    throw new AppError('bad_config', `${place}: ${error.message}`, { hint: remedy, cause: error });
  }
}

/** The endpoint. @throws {AppError} `no_service`; `bad_config` where the config file that would name it is damaged */
export function requireEndpoint(app: App): FoundEndpoint {
  const found = configuredEndpoint(app);
  if (found !== undefined) return found;
  app.config();
  app.requireProfile();
  throw new AppError('no_service', 'no service is configured');
}

export interface FoundKey {
  readonly value: string;
  readonly source: Extract<Source, 'env' | 'config'>;
}

/**
 * The API key: from the environment, else from the saved login. A saved key goes to the service it was saved for and
 * to no other; all ports of this machine count as one.
 * @throws {AppError} `bad_key`; `no_key` where the saved key belongs elsewhere
 */
export function configuredKey(app: App, endpoint: URL | undefined): FoundKey | undefined {
  const fromEnv = variable(app.context.env, 'RESTAURANT_API_KEY');
  if (fromEnv !== undefined) {
    app.registerSecret(fromEnv.trim());
    const value = checkKey(fromEnv, app.settings.need('key-prefix'), keyHint(app, 'env'));
    return { value, source: 'env' };
  }
  const { key, key_origin: origin } = app.settings.profile;
  if (key === undefined || key === '') return undefined;
  app.registerSecret(key.trim());
  if (endpoint !== undefined && origin !== undefined && !sameService(endpoint, origin)) {
    throw new AppError('no_key', `the saved key belongs to ${origin} and is not sent to ${endpoint.origin}`, {
      hint: `restaurant login --base-url ${endpoint.origin} --profile <name> saves another`,
    });
  }
  return { value: checkKey(key, app.settings.need('key-prefix')), source: 'config' };
}

function sameService(endpoint: URL, origin: string): boolean {
  if (endpoint.origin === origin) return true;
  const home = URL.canParse(origin) ? new URL(origin) : undefined;
  return home !== undefined && isLoopback(home) && isLoopback(endpoint);
}

/** The key. @throws {AppError} `no_key`; `bad_config` where the config file that would hold it is damaged */
export function requireKey(app: App, endpoint: URL): FoundKey {
  const found = configuredKey(app, endpoint);
  if (found !== undefined) return found;
  app.config();
  app.requireProfile();
  const { profileName } = app.settings;
  const which = profileName === 'default' ? '' : ` for the profile ${profileName}`;
  throw new AppError('no_key', `no API key${which}`, {
    hint: `set RESTAURANT_API_KEY, or: ${loginCommand(app)}`,
  });
}

/** The login of the profile in use. */
export function loginCommand({ settings: { profileName } }: App): string {
  return `restaurant login${profileName === 'default' ? '' : ` --profile ${profileName}`}`;
}

/** What to do about a key that the service refuses: a login changes nothing while the environment has one. */
export function keyHint(app: App, source: FoundKey['source']): string {
  return source === 'config'
    ? loginCommand(app)
    : `the key is from RESTAURANT_API_KEY: set another there, or unset RESTAURANT_API_KEY && ${loginCommand(app)}`;
}

/** What a run speaks to, and with which key. */
export interface Target {
  readonly url: URL;
  readonly key: string;
  readonly keyHint?: string;
  /** The sandbox in this process: nothing is counted and nothing kept. */
  readonly demo: boolean;
}

/** What the keys of every sandbox begin with. */
const SANDBOX_KEYS = 'sk_service_demo_';

/** What the sandbox of --demo is: the plain service, or a full MCP server with a list of its tools. */
export type DemoMode = 'service' | 'mcp';

/**
 * The service of this run. With --demo it is started, over real loopback HTTP, so that a demo takes the whole way of a
 * call; it ends with the run.
 * @throws {AppError} `no_service`, `no_key`, `bad_key`; `usage` where the key would travel unprotected
 */
export async function openTarget(app: App, demoMode: DemoMode = 'service'): Promise<Target> {
  if (app.globals.demo === true) {
    app.warnOfIgnoredConfig();
    const { startSandbox } = await import('../sandbox/server.ts');
    const sandbox = await startSandbox({ mode: demoMode, perMinute: 0, perDay: 0 });
    app.onClose(() => sandbox.close());
    return { url: new URL(sandbox.endpoint), key: sandbox.keys.paid, demo: true };
  }
  const { url, source } = requireEndpoint(app);
  const { value: key, source: keySource } = requireKey(app, url);
  app.warnOfIgnoredConfig();
  if (source === 'config' && isLoopback(url) && key.startsWith(SANDBOX_KEYS)) {
    void app.remark(`sandbox data: the saved service ${url.host} is the sandbox of this machine`);
  }
  assertMayCarryKey(url, app.globals.insecureHttp === true);
  return { url, key, keyHint: keyHint(app, keySource), demo: false };
}

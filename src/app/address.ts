import { join } from 'node:path';
import { isLoopback } from '../client/endpoint.ts';
import type { DetectedProtocol } from '../client/mcp/protocol.ts';
import { AppError, usage } from '../errors.ts';
import { again, restaurant } from '../hint.ts';
import { SOURCES, type Source } from '../settings/settings.ts';
import { serviceOf } from '../storage/config-file.ts';
import { type JsonFile, openJsonFile, type Warn } from '../storage/store.ts';
import { nearest } from '../util/nearest.ts';
import { sha256Hex } from '../util/sha256.ts';
import { parseUrl } from '../util/url.ts';
import type { App } from './app.ts';

/** Whether a command that calls the service needs `--demo`, which this one does not have. */
export const needsDemo = ({ globals, settings }: App): boolean =>
  globals.demo !== true && settings.hasNoService;

/** Whether a command or a suggestion of it uses the sample data. */
export const hasSampleData = ({ globals, settings }: App): boolean =>
  globals.demo === true || settings.hasNoService;

export const isPreview = ({ globals }: App): boolean => globals.dryRun === true || globals.curl === true;

interface ConfiguredEndpoint {
  readonly url: URL;
  readonly source: Source;
}

/** From a flag, else the environment, else the profile; undefined for the embedded sandbox. */
export function configuredEndpoint({ settings, globals }: App): ConfiguredEndpoint | undefined {
  if (globals.demo === true) return undefined;
  // From the same source, an exact endpoint overrides the base URL.
  const rank = (name: 'endpoint' | 'base-url') => SOURCES.indexOf(settings.raw(name).source);
  const name = rank('endpoint') <= rank('base-url') ? 'endpoint' : 'base-url';
  const { value: url, source } = settings.resolve(name);
  return url && { url, source };
}

export function requireEndpoint(app: App): ConfiguredEndpoint {
  const endpoint = configuredEndpoint(app);
  // If the service is configured elsewhere, the run does not need the damaged config file.
  if (endpoint === undefined || !app.config.isDamaged) requireProfile(app);
  if (endpoint === undefined) {
    // A preview cannot show a URL of the embedded sandbox.
    const hint = { command: restaurant('login') };
    throw new AppError('no_service', 'no service is configured', isPreview(app) ? { hint } : {});
  }
  return endpoint;
}

export function requireProfile(app: App, name = app.settings.profileName): void {
  const saved = Object.keys(app.config.file().profiles ?? {});
  if (name === 'default' || saved.includes(name)) return;
  const { value, source } = app.settings.raw('profile');
  const near = nearest(name, saved).map((each) =>
    source === 'flag' && value === name
      ? { text: `did you mean ${each}?`, command: again({ '--profile': each }) }
      : { text: `did you mean ${each}?` },
  );
  const other =
    source === 'config' && value === name
      ? { text: 'use the default profile', command: restaurant('config', 'unset', 'profile') }
      : { text: 'save it', command: restaurant('login', '--profile', name) };
  throw usage(`no profile '${name}'; saved: ${saved.join(', ') || 'none'}`, [...near, other]);
}

export function profileOrigin({ settings: { profile } }: App): string | undefined {
  const url = serviceOf(profile);
  return url === undefined ? undefined : parseUrl(url)?.origin;
}

/** All ports of this machine count as one service, because a sandbox has a new port each time. */
export function sameService(endpoint: URL, origin: string): boolean {
  if (endpoint.origin === origin) return true;
  const home = parseUrl(origin);
  return home !== undefined && isLoopback(home) && isLoopback(endpoint);
}

export function supportsMcp(app: App): boolean | undefined {
  const protocol = app.settings.get('protocol');
  if (protocol !== 'auto') return protocol !== 'bare';
  const endpoint = configuredEndpoint(app)?.url.href;
  const stored = endpoint === undefined ? undefined : openProtocolMemory(app.paths.stateDir, endpoint).read();
  return stored && stored.era !== 'bare';
}

/** Each endpoint has its own file, so no lock is needed. */
export function openProtocolMemory(
  stateDir: string | undefined,
  endpoint: string,
  warn?: Warn,
): JsonFile<DetectedProtocol> {
  const path = stateDir === undefined ? undefined : join(stateDir, 'protocol', `${sha256Hex(endpoint)}.json`);
  return openJsonFile(path, decodeProtocol, warn);
}

function decodeProtocol({ era, version }: Readonly<Record<string, unknown>>): DetectedProtocol | undefined {
  if (typeof era !== 'string' || !['string', 'undefined'].includes(typeof version)) return undefined;
  return { era, ...(typeof version === 'string' ? { version } : {}) };
}

import type { JsonObject } from '../../client/rpc/envelope.ts';
import { AppError } from '../../errors.ts';
import type { McpClient, Via } from './clients.ts';

/** Name of the entry in every client. */
export const ENTRY_NAME = 'restaurant';

/** The command that a client starts. */
export const COMMAND = 'restaurant';

/** What is asked for, before it is known whether the client can. */
export interface Choice {
  readonly via?: Via | undefined;
  /** The key itself is to stand in the file. */
  readonly literalKey: boolean;
  /** There is no URL to write: the run has a sandbox of its own. */
  readonly demo: boolean;
}

/**
 * How the client is to reach the service: as asked, else by itself where it can without the key in its file.
 * @throws {AppError} `usage` naming the other way where the client cannot
 */
export function chooseVia(client: McpClient, { via, literalKey, demo }: Choice): Via {
  const { name } = client;
  const byReference = client.reference !== undefined || client.httpByVariable !== undefined;
  const canHttp = client.http !== undefined && !demo && (byReference || literalKey);
  const chosen = via ?? (canHttp ? 'http' : 'stdio');
  if (chosen === 'stdio') {
    if (!literalKey) return 'stdio';
    const http = client.http === undefined ? '' : ', or use --via http';
    throw new AppError('usage', '--literal-key is for --via http: the bridge takes the saved login', {
      hint: `restaurant mcp config ${name} --via stdio without --literal-key${http}`,
    });
  }
  if (client.http === undefined) {
    throw new AppError('usage', `${name} starts programs and takes no URL: --via http is not for it`, {
      hint: `restaurant mcp config ${name} --via stdio`,
    });
  }
  if (demo) {
    throw new AppError('usage', '--demo has no URL that a client could use', {
      hint: `restaurant mcp config ${name} --via stdio --demo`,
    });
  }
  if (canHttp) return 'http';
  throw new AppError(
    'usage',
    `${name} knows no reference to a variable, so the key would stand in its file`,
    {
      hint: `restaurant mcp config ${name} --via stdio, or add --literal-key`,
    },
  );
}

/** What a client reaches the service by. */
export type Target =
  | { readonly via: 'stdio'; readonly args: readonly string[] }
  | { readonly via: 'http'; readonly url: string; readonly literalKey?: string };

/** An entry and what goes with it. */
export interface Entry {
  readonly value: JsonObject;
  /** Items that the file's `inputs` must hold. */
  readonly inputs: readonly JsonObject[];
  /** Every key that an entry of ours may have. Others in it are the user's. */
  readonly ownKeys: readonly string[];
}

/** The entry for a client that can do what is wanted of it; see {@link chooseVia}. */
export function buildEntry(client: McpClient, target: Target): Entry {
  const value = entryValue(client, target);
  const referring = target.via === 'http' && target.literalKey === undefined;
  const shapes = [
    client.stdio('', []),
    client.http?.('', { Authorization: '' }) ?? {},
    client.httpByVariable?.('') ?? {},
  ];
  return {
    value,
    inputs: referring ? (client.inputs ?? []) : [],
    ownKeys: shapes.flatMap((shape) => Object.keys(shape)),
  };
}

function entryValue(client: McpClient, target: Target): JsonObject {
  if (target.via === 'stdio') return client.stdio(COMMAND, target.args);
  const { url, literalKey } = target;
  if (literalKey === undefined && client.httpByVariable !== undefined) return client.httpByVariable(url);
  return client.http?.(url, { Authorization: `Bearer ${literalKey ?? client.reference}` }) ?? {};
}

/** The entry inside what its file holds, for copying. */
export function snippet(client: McpClient, entry: Entry): JsonObject {
  return {
    [client.servers]: { [ENTRY_NAME]: entry.value },
    ...(entry.inputs.length === 0 ? {} : { inputs: entry.inputs }),
  };
}

import type { App } from '../../app/app.ts';
import { openService } from '../../app/service.ts';
import { variable } from '../../settings/settings.ts';
import { checkStdio } from './check-stdio.ts';
import { KEY_VARIABLE, type McpClient } from './clients.ts';
import { COMMAND, type Target } from './entry.ts';

/** What a check found. */
export interface Checked {
  readonly ok: true;
  /** How many tools the client will see; null where the service lists none. */
  readonly tools: number | null;
  /** Where the key for the URL came from. */
  readonly key?: 'env' | 'config';
}

/** Variables that careful clients keep from the programs they start. */
const SECRET = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL/i;

/** Makes one call the way the client would. @throws {AppError} what the call failed with */
export async function checkEntry(app: App, client: McpClient, target: Target): Promise<Checked> {
  if (target.via === 'http') return checkHttp(app);
  const { env, platform } = app.context;
  const names = Object.keys(env).filter((name) => client.hidesSecrets !== true || !SECRET.test(name));
  const tools = await app.withSpinner(`starting ${COMMAND} ${target.args.join(' ')}`, () =>
    checkStdio({
      command: COMMAND,
      args: target.args,
      env: Object.fromEntries(names.map((name) => [name, env[name]])),
      windows: platform === 'win32',
      timeoutMs: app.settings.need('timeout'),
      context: app.context,
    }),
  );
  return { ok: true, tools };
}

/** With the URL of the entry and the key that its reference stands for. */
async function checkHttp(app: App): Promise<Checked> {
  const service = await openService(app);
  const tools = await app.withSpinner(`asking ${service.label}`, () => service.tools());
  if (tools === undefined) await app.withSpinner(`asking ${service.label}`, () => service.client.check());
  const inVariable = variable(app.context.env, KEY_VARIABLE) !== undefined;
  return { ok: true, tools: tools?.length ?? null, key: inVariable ? 'env' : 'config' };
}

/** What was found, as a line for a person. */
export function checkLine({ tools, key }: Checked, client: McpClient): string {
  const answered = tools === null ? 'the service answered' : `the service answered and has ${tools} tools`;
  const list =
    tools === null
      ? `; it lists no tools, which ${client.name} may need: --via stdio brings a list along`
      : '';
  const missing = key === 'config' && client.inputs === undefined;
  const set = missing ? `; ${KEY_VARIABLE} is not set here, so the saved login was used` : '';
  return `check: ${answered}${list}${set}\n`;
}

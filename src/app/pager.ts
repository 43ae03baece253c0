import { spawn } from 'node:child_process';
import type { App } from './app.ts';

/**
 * Returns the command that pages a text for a person: RESTAURANT_PAGER, else PAGER. Undefined unless stdout is a
 * terminal with fewer lines than the text, and with `--no-pager`, `--no-input` or CI.
 */
export function pagerCommand(app: App, text: string): string | undefined {
  const { env, stdout } = app.context;
  const command = (env.RESTAURANT_PAGER ?? env.PAGER ?? '').trim();
  if (command === '' || command === 'cat' || app.globals.pager === false || !app.canOpenBrowser)
    return undefined;
  if (!stdout.isTTY || stdout.rows === undefined) return undefined;
  return text.split('\n').length > stdout.rows ? command : undefined;
}

/** Shows a text in the pager until the person leaves it. @returns whether the pager could be started */
export function showInPager(app: App, command: string, text: string): Promise<boolean> {
  const { RESTAURANT_API_KEY: _, ...env } = app.context.env;
  return new Promise((resolve) => {
    // As git does: quit if the text fits, show colors, leave the text on the screen.
    const child = spawn(command, {
      shell: true,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { LESS: 'FRX', LV: '-c', ...env },
    });
    // A pager that is left early reads no further.
    child.stdin.on('error', () => {});
    child.on('error', () => resolve(false));
    // 126 and 127: the shell could not start it.
    child.on('close', (code) => resolve(code !== 126 && code !== 127));
    child.stdin.end(text);
  });
}

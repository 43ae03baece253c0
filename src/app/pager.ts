import { spawn } from 'node:child_process';
import type { App } from './app.ts';

/** Shows a text that is longer than the screen in the pager, until the user quits it. @returns whether it was shown */
export async function showInPager(app: App, text: string): Promise<boolean> {
  const { env, stdout, leaveInterruptsTo } = app.context;
  const command = (env.RESTAURANT_PAGER ?? env.PAGER ?? '').trim();
  if (command === '' || command === 'cat' || !app.terminal.canOpenBrowser) return false;
  if (stdout.rows === undefined || text.split('\n').length <= stdout.rows) return false;
  return leaveInterruptsTo(() => runPager(command, app.secrets.mask(text), env));
}

function runPager(
  command: string,
  text: string,
  { RESTAURANT_API_KEY: _, ...env }: App['context']['env'],
): Promise<boolean> {
  return new Promise((resolve) => {
    // As git does: quit if the text fits, show colors, leave the text on the screen.
    const child = spawn(command, {
      shell: true,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { LESS: 'FRX', LV: '-c', ...env },
    });
    // If the user quits the pager early, it does not read the rest.
    child.stdin.on('error', () => {});
    child.on('error', () => resolve(false));
    // 126 and 127: the shell could not start the pager.
    child.on('close', (code) => resolve(code !== 126 && code !== 127));
    child.stdin.end(text);
  });
}

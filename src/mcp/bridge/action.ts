import { App } from '../../app/app.ts';
import { openService } from '../../app/service.ts';
import type { Context, Output } from '../../context.ts';
import { serveStdio } from './serve.ts';
import { openUpstream } from './upstream.ts';

/**
 * Runs the bridge until stdin is closed.
 * @param attach gives an app the options of this run
 */
export async function serveBridge(app: App, attach: (fresh: App) => void): Promise<void> {
  const { context } = app;
  if (context.stdin.isTTY) {
    await app.note(
      'an MCP client starts this and speaks to it; restaurant mcp config <client> tells it to (Ctrl-D ends)',
    );
  }
  const upstream = openUpstream({
    // A new look at the settings each time, so that a login counts that came later.
    connect: async () => {
      const fresh = new App(quiet(context, app.verbose));
      attach(fresh);
      app.onClose(() => fresh.close());
      return openService(fresh, { demoMode: 'mcp' });
    },
    profileName: app.settings.profileName,
    now: context.now,
  });
  await serveStdio({
    context,
    upstream,
    onFault: (fault) =>
      void app.trace(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault)),
  });
}

const nowhere: Output = { write: async () => {}, isTTY: false, columns: 80 };

/** Surroundings in which nothing but messages reaches stdout, and stderr only what --verbose asks for. */
const quiet = (context: Context, verbose: boolean): Context => ({
  ...context,
  stdout: nowhere,
  stderr: verbose ? context.stderr : nowhere,
});

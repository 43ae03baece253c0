import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { oneOf, parseValue } from '../settings/values.ts';
import { SCRIPTS, SHELLS, type Shell } from './completion/scripts.ts';

/** Adds `completion` to the program. */
export function registerCompletion(program: CliCommand, app: App): void {
  program
    .command('completion')
    .summary('a completion script for bash, zsh or fish')
    .description('Print a completion script for a shell. It asks no service and changes no file.')
    .argument('<shell>', SHELLS.join(', '))
    .completeWith('shell', SHELLS)
    .examples('restaurant completion bash', 'restaurant completion zsh', 'restaurant completion fish')
    .notes(
      'restaurant completion <shell> > <file> installs it, and the next shell that is opened reads it. The ' +
        'files, for yourself and for all users:\n\n' +
        '  bash ~/.local/share/bash-completion/completions/restaurant\n' +
        '       /usr/share/bash-completion/completions/restaurant\n' +
        '  zsh  ~/.zfunc/_restaurant\n' +
        '       /usr/local/share/zsh/site-functions/_restaurant\n' +
        '  fish ~/.config/fish/completions/restaurant.fish\n' +
        '       /usr/share/fish/vendor_completions.d/restaurant.fish\n\n' +
        'zsh looks there with fpath+=~/.zfunc before compinit in ~/.zshrc. Or without a file, as a line of ~/.bashrc, ~/.zshrc (behind compinit) or config.fish:\n\n' +
        '  source <(restaurant completion bash)\n' +
        '  source <(restaurant completion zsh)\n' +
        '  restaurant completion fish | source\n\n' +
        'bash needs version 4.4, and for the files its package bash-completion. At a TAB the program is ' +
        'asked: it reads local files, and sends nothing.',
    )
    .action(async (name: string) => {
      const shell: Shell = parseValue(oneOf(SHELLS), name, { name: '<shell>', flag: true });
      await app.context.stdout.write(SCRIPTS[shell]);
    });
}

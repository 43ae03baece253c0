import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import bash from './completion/restaurant.bash' with { type: 'text' };
import fish from './completion/restaurant.fish' with { type: 'text' };
import powershell from './completion/restaurant.ps1' with { type: 'text' };
import zsh from './completion/restaurant.zsh' with { type: 'text' };

/** The script for each shell. It runs the program at each TAB, so it works with any installed version. */
const SCRIPTS = { bash, zsh, fish, powershell };
export const SHELLS = Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[];

export function registerCompletion(command: CliCommand, app: App): void {
  command
    .about('Print a completion script for bash, zsh, fish, or PowerShell')
    .choiceArgument('shell', SHELLS)
    .examples(...SHELLS.map((shell) => `restaurant completion ${shell}`))
    .notes(
      'To install it, run restaurant completion <shell> > <file> with one of these files, for yourself or for ' +
        'all users, and open a new shell:\n\n' +
        '  bash ~/.local/share/bash-completion/completions/restaurant\n' +
        '       /usr/share/bash-completion/completions/restaurant\n' +
        '  zsh  ~/.zfunc/_restaurant\n' +
        '       /usr/local/share/zsh/site-functions/_restaurant\n' +
        '  fish ~/.config/fish/completions/restaurant.fish\n' +
        '       /usr/share/fish/vendor_completions.d/restaurant.fish\n\n' +
        'For zsh, put fpath+=~/.zfunc before compinit in ~/.zshrc. Or add one line to ~/.bashrc, ~/.zshrc ' +
        '(after compinit) or config.fish:\n\n' +
        '  source <(restaurant completion bash)\n' +
        '  source <(restaurant completion zsh)\n' +
        '  restaurant completion fish | source\n\n' +
        'For PowerShell, add this line to the file that $PROFILE names:\n\n' +
        '  restaurant completion powershell | Out-String | Invoke-Expression\n\n' +
        'bash needs version 4.4 or later, and the package bash-completion to read these files. Completion reads local ' +
        'files and sends no request.',
    )
    .action((shell: keyof typeof SCRIPTS) => app.context.stdout.write(SCRIPTS[shell]));
}

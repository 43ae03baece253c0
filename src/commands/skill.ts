import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { valueOption } from '../cli/option.ts';
import { object } from '../cli/schemas.ts';
import { oneOf } from '../settings/values.ts';
import { AGENT_NAMES, AGENTS, SCOPES, type Scope } from './skill/agents.ts';

/** Output of `skill install --json`. */
const SKILL_OUTPUT = object({
  agent: { enum: AGENT_NAMES },
  scope: { enum: SCOPES },
  file: { type: 'string' },
  state: { enum: ['new', 'same', 'different'], description: 'the file before' },
  written: { type: 'boolean' },
});

/** Lists the folder of the skill for each agent. */
const places = (): string => {
  const widest = Math.max(...AGENT_NAMES.map((name) => name.length));
  return AGENTS.map(({ name, user, project }) => {
    const home = user.below === 'config' ? '~/.config' : '~';
    return `  ${name.padEnd(widest)}  ${home}/${user.path} or ${project}`;
  }).join('\n');
};

/** Adds `skill` and its subcommands to the program. */
export function registerSkill(program: CliCommand, app: App): void {
  const skill = program
    .command('skill')
    .summary('Install the skill for coding agents')
    .description('The skill (agentskills.io) that teaches a coding agent to use this program.')
    .examples('restaurant skill print', 'restaurant skill install claude-code --dry-run');
  skill
    .command('print')
    .summary('Print SKILL.md')
    .description('Print SKILL.md.')
    .examples('restaurant skill print')
    .action(async () => {
      const { skillText } = await import('./skill/text.ts');
      await app.context.stdout.write(skillText(program));
    });
  skill
    .command('install')
    .summary('Install the skill for an agent')
    .description('Write SKILL.md into the folder where an agent looks for skills.')
    .argument('<agent>', AGENT_NAMES.join(', '))
    .completeWith('agent', AGENT_NAMES)
    .addOption(
      valueOption('--scope <scope>', 'User or project folder', {
        read: oneOf(SCOPES),
        choices: SCOPES,
        defaultText: 'user',
      }),
    )
    .usesOptions('dry-run', 'force', 'json')
    .overrideOption('--dry-run', { description: 'Print the path; write nothing' })
    .outputSchema(SKILL_OUTPUT)
    .examples(
      'restaurant skill install claude-code',
      'restaurant skill install codex --scope project',
      'restaurant skill install copilot --dry-run',
    )
    .notes(
      `The file is restaurant/SKILL.md in the user folder, or with --scope project in the folder of this ` +
        `project:\n\n${places()}\n\nCLAUDE_CONFIG_DIR, COPILOT_HOME and XDG_CONFIG_HOME are honored. ` +
        'An existing file that is different is overwritten only with --force. Symbolic links are not followed.',
    )
    .action(async (agent: string, options: { scope?: Scope }) => {
      const { skillText } = await import('./skill/text.ts');
      const { installSkill } = await import('./skill/install.ts');
      await installSkill(app, agent, options.scope ?? 'user', skillText(program));
    });
}

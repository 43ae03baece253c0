import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { valueOption } from '../cli/option.ts';
import { object } from '../cli/schemas.ts';
import { oneOf } from '../settings/values.ts';
import { AGENT_NAMES, AGENTS, SCOPES, type Scope } from './skill/agents.ts';

/** What `skill install --json` prints. */
const SKILL_OUTPUT = object({
  agent: { enum: AGENT_NAMES },
  scope: { enum: SCOPES },
  file: { type: 'string' },
  state: { enum: ['new', 'same', 'different'], description: 'what stood there before' },
  written: { type: 'boolean' },
});

/** Where the skill goes, for each agent. */
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
    .summary('the skill that teaches an agent to use this program')
    .description('The skill (agentskills.io) that teaches a coding agent to use this program.')
    .examples('restaurant skill print', 'restaurant skill install claude-code --dry-run');
  skill
    .command('print')
    .summary('print the skill, a SKILL.md')
    .description('Print the skill, a SKILL.md. It needs no service.')
    .examples('restaurant skill print')
    .action(async () => {
      const { skillText } = await import('./skill/text.ts');
      await app.context.stdout.write(skillText(program));
    });
  skill
    .command('install')
    .summary('write the skill where an agent looks for skills')
    .description('Write the skill into the folder where an agent looks for skills.')
    .argument('<agent>', AGENT_NAMES.join(', '))
    .completeWith('agent', AGENT_NAMES)
    .addOption(
      valueOption('--scope <scope>', 'whose folder', {
        read: oneOf(SCOPES),
        choices: SCOPES,
        defaultText: 'user',
      }),
    )
    .usesOptions('dry-run', 'force', 'json')
    .overrideOption('--dry-run', { description: 'print the path; write nothing' })
    .outputSchema(SKILL_OUTPUT)
    .examples(
      'restaurant skill install claude-code',
      'restaurant skill install codex --scope project',
      'restaurant skill install copilot --dry-run',
    )
    .notes(
      `It goes into restaurant/SKILL.md in the user's folder, or with --scope project in that of the project ` +
        `here:\n\n${places()}\n\nCLAUDE_CONFIG_DIR, COPILOT_HOME and XDG_CONFIG_HOME are obeyed. ` +
        '--dry-run prints the path. A file that holds something else is replaced with --force alone, and ' +
        'nothing is written through a symbolic link.',
    )
    .action(async (agent: string, options: { scope?: Scope }) => {
      const { skillText } = await import('./skill/text.ts');
      const { installSkill } = await import('./skill/install.ts');
      await installSkill(app, agent, options.scope ?? 'user', skillText(program));
    });
}

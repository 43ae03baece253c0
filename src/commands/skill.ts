import type { App } from '../app/app.ts';
import type { CliCommand } from '../cli/command.ts';
import { boolean, object, text } from '../cli/schemas.ts';
import skillText from '../mcp/skill.md' with { type: 'text' };
import type { SkillOptions } from './skill/files.ts';
import { AGENT_NAMES, type Agent, installSkill, SCOPES, uninstallSkill } from './skill/files.ts';

const FILE = { agent: { enum: AGENT_NAMES }, scope: { enum: SCOPES }, file: text };
const INSTALL_OUTPUT = object({
  ...FILE,
  state: { enum: ['new', 'same', 'different'], description: 'the file before' },
  written: boolean,
});
const UNINSTALL_OUTPUT = object({ ...FILE, removed: boolean });
const SCOPE_FACTS = { choices: SCOPES, defaultText: 'user' };

export function registerSkill(command: CliCommand, app: App): void {
  const skill = command
    .about('Install the skill for coding agents')
    .examples('restaurant skill print', 'restaurant skill install claude-code --dry-run');
  skill
    .command('print')
    .about('Print SKILL.md')
    .examples('restaurant skill print')
    .action(() => app.context.stdout.write(skillText));
  skill
    .command('install')
    .about('Install the skill for an agent')
    .choiceArgument('client', AGENT_NAMES)
    .valueOption('--scope <scope>', 'User or project folder', SCOPE_FACTS)
    .option('--update', 'Replace an installed version; install nothing new')
    .usesOptions('dry-run', 'force', 'json')
    .overrideOption('--dry-run', { description: 'Print the path; write nothing' })
    .overrideOption('--force', { description: 'Overwrite a SKILL.md that is different' })
    .outputSchema(INSTALL_OUTPUT)
    .examples('restaurant skill install claude-code', 'restaurant skill install codex --scope project')
    .notes(
      "Writes restaurant/SKILL.md into your skills folder for the agent, or into this project's with --scope " +
        'project; --dry-run prints the path. universal is the folder that several agents read. An existing file that ' +
        'is different is overwritten only with --force, or with --update if it is a version of this skill. ' +
        'CLAUDE_CONFIG_DIR, COPILOT_HOME, and XDG_CONFIG_HOME are honored. Symbolic links are not followed.',
    )
    .action((agent: Agent, options: SkillOptions) => installSkill(app, agent, options, skillText));
  skill
    .command('uninstall')
    .about('Delete the installed skill')
    .choiceArgument('client', AGENT_NAMES)
    .valueOption('--scope <scope>', 'User or project folder', SCOPE_FACTS)
    .usesOptions('dry-run', 'force', 'json')
    .overrideOption('--dry-run', { description: 'Print the path; delete nothing' })
    .overrideOption('--force', { description: 'Delete a SKILL.md that is different' })
    .outputSchema(UNINSTALL_OUTPUT)
    .examples('restaurant skill uninstall claude-code --dry-run')
    .notes('Another SKILL.md in its place is deleted only with --force.')
    .action((agent: Agent, options: SkillOptions) => uninstallSkill(app, agent, options));
}

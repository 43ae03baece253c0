import type { CliCommand } from '../../cli/command.ts';
import { argumentTerms } from '../../cli/help.ts';
import { CODES, EXIT_CODES } from '../../errors.ts';
import template from './template.md' with { type: 'text' };

/** The name of the skill, and of its folder. */
export const SKILL_NAME = 'restaurant';

/** Builds the skill for agents from its template and the command tree. */
export function skillText(program: CliCommand): string {
  return template.replace('{{commands}}', () => commandList(program)).replace('{{exit-codes}}', exitList);
}

function commandList(program: CliCommand): string {
  const leaves = (command: CliCommand): CliCommand[] =>
    command.isGroup ? command.children.flatMap(leaves) : [command, ...command.children.flatMap(leaves)];
  return program.children
    .flatMap(leaves)
    .map(
      (command) =>
        `* \`${[SKILL_NAME, command.path, argumentTerms(command)].join(' ').trim()}\`: ${command.summary()}`,
    )
    .join('\n');
}

function exitList(): string {
  const kinds = Object.entries(EXIT_CODES).map(([kind, exit]) => {
    const codes = Object.entries(CODES).flatMap(([code, entry]) =>
      entry.kind === kind ? [`\`${code}\``] : [],
    );
    return `* ${exit}: ${codes.join(', ')}`;
  });
  return ['* 0: success', ...kinds].join('\n');
}

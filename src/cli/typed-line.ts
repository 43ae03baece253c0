import type { TypedLine } from '../hint.ts';
import type { Route } from './route.ts';

/** Returns the command line of a run for the commands in its hints. */
export const typedLine = ({ path: [, ...commands], operands, parts }: Route): TypedLine => ({
  command: commands.map((command) => command.name()),
  operands,
  options: parts.flatMap(({ flags, value }) =>
    flags.map((flag, index) => (index === flags.length - 1 ? { flag, value } : { flag })),
  ),
});

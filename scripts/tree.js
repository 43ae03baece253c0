// Completes the command tree that `restaurant schema` prints with what `restaurant schema <command>` adds.

/** Reads `-c, --city <city>`. */
function readFlags({ flags, type }) {
  const [, short = null, name, value] = /^(?:(-\w), )?(--[\w-]+)(.*)$/.exec(flags);
  return { name, short, type: type ?? (value === '' ? 'boolean' : 'string') };
}

/** Returns an argument as in `<id...>`. */
export const argumentTerm = ({ name, required, variadic }) => {
  const term = `${name}${variadic ? '...' : ''}`;
  return required ? `<${term}>` : `[${term}]`;
};

/** Returns all commands that run something. A group without an action has no options. */
export const everyCommand = (commands) =>
  commands.flatMap((command) => [
    ...(command.commands === undefined || command.global_options.length > 0 ? [command] : []),
    ...everyCommand(command.commands ?? []),
  ]);

/** @param describe runs `restaurant schema` with the words of a command and returns its output */
export async function completeTree(tree, describe) {
  const shared = tree.options.map((option) => ({ ...option, ...readFlags(option) }));

  async function complete(command) {
    const { arguments: args = [], options = [], commands, global_options: groups } = command;
    const { details = '', examples, input } = await describe(command.name.split(' '));
    const factsOf = (name) => {
      const { enum: choices, default: value } = input.properties[name.slice(2)];
      return { ...(choices && { choices }), ...(value !== undefined && { default: value }) };
    };
    const named = ['general', ...(groups ?? [])].flatMap((each) => tree.groups[each] ?? each);
    const accepted = shared.filter(({ group }) => input !== undefined && named.includes(group));
    for (const option of accepted) Object.assign(option, { ...factsOf(option.name), ...option });
    return {
      ...command,
      details,
      examples,
      arguments: args.map((each) => {
        const choices = input.properties[each.name].enum;
        return { required: false, variadic: false, ...each, ...(choices && { choices }) };
      }),
      options: options.map((option) => {
        const { name, ...facts } = readFlags(option);
        return { ...option, name, ...facts, ...factsOf(name) };
      }),
      global_options: accepted.map(({ name }) => name),
      ...(commands && { commands: await Promise.all(commands.map(complete)) }),
    };
  }

  const commands = await Promise.all(tree.commands.map(complete));
  const variables = shared
    .filter(({ environment }) => environment !== undefined)
    .map(({ environment, description }) => ({ name: environment, meaning: description }));
  return { ...tree, commands, options: shared, environment: [...variables, ...tree.environment] };
}

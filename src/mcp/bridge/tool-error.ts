import type { JsonObject } from '../../client/rpc.ts';
import { AppError, type Code } from '../../errors.ts';
import { errorFields } from '../../output/problem.ts';

/** Where a tool error carries its code and what else is known of it, for programs. */
export const PROBLEM_KEY = 'restaurant/error';

/**
 * A failure as the result of a tool (MCP, tools: error handling), so that the agent reads it and can tell its user what
 * to do.
 */
export function toolError(error: AppError): JsonObject {
  return {
    isError: true,
    content: [{ type: 'text', text: `${error.message}\nhint: ${error.hint}` }],
    _meta: { [PROBLEM_KEY]: errorFields(error) },
  };
}

/** Failures that a login mends, also while the bridge runs. */
const LOGIN_MENDS: readonly Code[] = ['no_key', 'bad_key', 'no_service', 'bad_config', 'unauthorized'];

/** Does a login mend it? */
export const loginMends = (error: unknown): error is AppError =>
  error instanceof AppError && LOGIN_MENDS.includes(error.code);

/** Hints that speak of a command line, as who uses an agent can follow them. */
const HINTS: Readonly<Partial<Record<Code, string>>> = {
  bad_response:
    'restaurant status --check in a terminal tries the service; restaurant mcp --verbose tells more on stderr',
  timeout: 'restaurant mcp --timeout 2m, as the command of the MCP client, gives the service longer',
};

/**
 * A failure as it is told to who uses an agent: they type no command line, and the agent may hold back the variable that
 * their shell has.
 */
export function asSeenByAgents(error: AppError, profileName: string): AppError {
  const { code, details } = error;
  const profile = profileName === 'default' ? '' : ` --profile ${profileName}`;
  const hint =
    code === 'no_key'
      ? `run restaurant login${profile} in a terminal, then try again: the saved login is used here (some agents keep variables named KEY or TOKEN from the programs they start)`
      : details.hint === undefined
        ? HINTS[code]
        : undefined;
  return hint === undefined ? error : new AppError(code, error.message, { ...details, hint });
}

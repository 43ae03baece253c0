import type { JsonObject } from '../api/rpc.ts';
import { AppError } from '../errors.ts';
import { errorFacts } from '../output/problem.ts';

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
    _meta: { [PROBLEM_KEY]: errorFacts(error) },
  };
}

/** Failures that a login mends, also while the bridge runs. */
const LOGIN_MENDS: readonly AppError['code'][] = [
  'no_key',
  'bad_key',
  'no_service',
  'bad_config',
  'unauthorized',
];

/** Does a login mend it? */
export const loginMends = (error: unknown): error is AppError =>
  error instanceof AppError && LOGIN_MENDS.includes(error.code);

/** The missing key as it is told to who uses an agent: the agent may hold back the variable that their shell has. */
export function asSeenByAgents(error: AppError, profileName: string): AppError {
  if (error.code !== 'no_key') return error;
  const profile = profileName === 'default' ? '' : ` --profile ${profileName}`;
  return new AppError('no_key', error.message, {
    ...error.details,
    hint: `run restaurant login${profile} in a terminal, then try again: the saved login is used here (some agents keep variables named KEY or TOKEN from the programs they start)`,
  });
}

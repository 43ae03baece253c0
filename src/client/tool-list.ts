import { AppError } from '../errors.ts';
import { decodeTools } from './decode.ts';
import type { Tool } from './types.ts';

/** More pages than any service has; a server that never ends the list is stopped here. */
const MAX_PAGES = 100;

/**
 * All pages of `tools/list`.
 * @param page asks for one page
 * @throws {AppError} `bad_response` for a page that is no list, or a list without end
 */
export async function listAllTools(
  page: (params: { cursor: string } | undefined) => Promise<unknown>,
): Promise<Tool[]> {
  const tools: Tool[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { tools: found, nextCursor } = decodeTools(
      await page(cursor === undefined ? undefined : { cursor }),
    );
    for (const tool of found) tools.push(tool);
    // An empty string is a cursor too; one seen before would lead in a circle.
    if (nextCursor === undefined || seen.has(nextCursor)) return tools;
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  throw new AppError('bad_response', `the list of tools has more than ${MAX_PAGES} pages`);
}

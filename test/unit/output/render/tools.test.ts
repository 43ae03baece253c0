import { describe, expect, it } from 'vitest';
import type { Tool } from '../../../../src/client/types.ts';
import { present } from '../../../../src/output/formats.ts';
import {
  renderTool,
  renderTools,
  toolPresentation,
  toolsPresentation,
} from '../../../../src/output/render/tools.ts';
import { viewOf } from '../../../helpers/hostile.ts';

const FIND: Tool = {
  name: 'find_restaurant',
  description: 'Search restaurants by name and city.\n\nReturns summaries, best match first.',
  inputSchema: {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1, default: 10, description: 'How many at most' },
      name: { type: 'string', description: 'Restaurant name to search' },
      city: { type: 'string', description: 'City to search in.' },
    },
    required: ['name', 'city'],
  },
};
const LOOKUP: Tool = {
  name: 'lookup_restaurant',
  title: 'Details',
  inputSchema: {
    properties: {
      restaurant_id: { type: 'string', examples: ["l'ami"] },
      fields: { enum: ['standard', 'premium'], type: 'string' },
      tags: { type: 'array', items: { type: 'string' } },
      near: { anyOf: [{ type: 'object' }, { type: 'null' }] },
    },
    required: ['restaurant_id', 'tags'],
  },
};

it('renderTools lists tools with their arguments, and drops the description if there is no room', () => {
  const tables = [80, 40].map((columns) => renderTools([FIND, LOOKUP, { name: 'ping' }], viewOf(columns)));
  expect(`\n${tables.join('\n\n')}\n`).toMatchInlineSnapshot(`
    "
    NAME               ARGUMENTS                      DESCRIPTION
    find_restaurant    <name> <city> [limit]          Search restaurants by name and
                                                      city.
    lookup_restaurant  <restaurant_id> <tags>         Details
                       [fields] [near]
    ping               -                              -

    NAME               ARGUMENTS
    find_restaurant    <name> <city> [limit]
    lookup_restaurant  <restaurant_id>
                       <tags> [fields]
                       [near]
    ping               -
    "
  `);
});

describe('renderTool', () => {
  it('shows a tool in full, and wraps it at 40 columns', () => {
    const texts = [renderTool(LOOKUP, viewOf(80)), renderTool(FIND, viewOf(40))];
    expect(`\n${texts.join('\n\n')}\n`).toMatchInlineSnapshot(`
      "
      lookup_restaurant
      Details

      ARGUMENT       TYPE             REQUIRED  DESCRIPTION
      restaurant_id  string           yes       -
      tags           array of string  yes       -
      fields         string           no        One of: standard, premium.
      near           object or null   no        -

      $ restaurant call lookup_restaurant 'restaurant_id=l'\\''ami' 'tags:=[]'

      find_restaurant

      Search restaurants by name and city.

      Returns summaries, best match first.

      Argument     name
      Type         string
      Required     yes
      Description  Restaurant name to search.

      Argument     city
      Type         string
      Required     yes
      Description  City to search in.

      Argument     limit
      Type         integer
      Required     no
      Description  How many at most. Default:
                   10.

      $ restaurant call find_restaurant \\
        name=... city=...
      "
    `);
  });

  it('shows a tool without arguments', () => {
    expect(renderTool({ name: 'ping' }, viewOf(60))).toBe(
      'ping\n\nIt takes no arguments.\n\n$ restaurant call ping',
    );
  });
});

it('writes an example that does not read a file', () => {
  const inputSchema = { properties: { note: { default: '@/etc/passwd' } }, required: ['note'] };
  expect(renderTool({ name: 't', inputSchema }, viewOf(80))).toContain(
    '$ restaurant call t note=@@/etc/passwd',
  );
});

it('shows the selected columns as a table', async () => {
  const columns = ['name', 'inputSchema.type'];
  const options = { prettyJson: false, guardFormulas: true, view: viewOf(60), columns };
  const table = 'NAME             INPUTSCHEMA.TYPE\nfind_restaurant  object\n';
  for (const tools of [toolsPresentation([FIND]), toolPresentation(FIND)])
    expect(await present(tools, 'table', options)).toBe(table);
  expect(toolsPresentation([FIND]).selectColumns(['name'])).toEqual({ tools: [{ name: FIND.name }] });
  expect(toolPresentation(FIND).selectColumns(['name'])).toEqual({ name: FIND.name });
});

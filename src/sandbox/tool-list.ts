import type { Tool } from '../client/types.ts';

const READ_ONLY = { readOnlyHint: true, openWorldHint: false };
const text = (description: string) => ({ type: 'string', minLength: 1, description });
const string = { type: 'string' };
const nullable = { type: ['string', 'null'] };
const integer = { type: 'integer' };
const object = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
});
const listOf = (properties: Record<string, unknown>) => ({ type: 'array', items: object(properties) });

/** The tools of `tools/list`. The schemas are JSON Schema 2020-12. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'find_restaurant',
    title: 'Find a restaurant',
    description: 'Search restaurants by name in a city. Returns matches with id, address, cuisine and grade.',
    inputSchema: {
      type: 'object',
      properties: { name: text('Restaurant name, or a part of it'), city: text('City to search in') },
      required: ['name', 'city'],
    },
    annotations: READ_ONLY,
  },
  {
    name: 'lookup_restaurant',
    title: 'Look up a restaurant',
    description: 'Details of one restaurant. The levels standard and premium need a paid key.',
    inputSchema: {
      type: 'object',
      properties: {
        restaurant_id: text('The service_id of a restaurant from find_restaurant'),
        fields: {
          type: 'string',
          enum: ['standard', 'premium'],
          description: 'Level of detail; left out, the basic level is returned',
        },
      },
      required: ['restaurant_id'],
    },
    annotations: READ_ONLY,
  },
  {
    name: 'explore_area',
    title: 'Explore an area',
    description:
      'The dining scene of a city or one of its neighborhoods: counts, cuisines, grades, the best places.',
    inputSchema: {
      type: 'object',
      properties: {
        city: { ...text('City to look at'), 'x-mcp-header': 'City' },
        neighborhood: { type: 'string', description: 'Only this neighborhood' },
      },
      required: ['city'],
    },
    outputSchema: object({
      status: string,
      city: string,
      neighborhood: nullable,
      total: integer,
      cuisines: listOf({ cuisine: string, count: integer }),
      grades: listOf({ grade: string, count: integer }),
      neighborhoods: listOf({ neighborhood: string, count: integer }),
      top: listOf({ service_id: string, name: string, grade: nullable, neighborhood: nullable }),
    }),
    annotations: READ_ONLY,
  },
];

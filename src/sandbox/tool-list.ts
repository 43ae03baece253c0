import type { Tool } from '../client/types.ts';

const READ_ONLY = { readOnlyHint: true, openWorldHint: false };
const text = (description: string) => ({ type: 'string', minLength: 1, description });
const counted = (key: string) => ({
  type: 'array',
  items: {
    type: 'object',
    properties: { [key]: { type: 'string' }, count: { type: 'integer' } },
    required: [key, 'count'],
  },
});

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
    outputSchema: {
      type: 'object',
      properties: {
        status: { type: 'string' },
        city: { type: 'string' },
        neighborhood: { type: ['string', 'null'] },
        total: { type: 'integer' },
        cuisines: counted('cuisine'),
        grades: counted('grade'),
        neighborhoods: counted('neighborhood'),
        top: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              service_id: { type: 'string' },
              name: { type: 'string' },
              grade: { type: ['string', 'null'] },
              neighborhood: { type: ['string', 'null'] },
            },
            required: ['service_id', 'name', 'grade', 'neighborhood'],
          },
        },
      },
      required: ['status', 'city', 'neighborhood', 'total', 'cuisines', 'grades', 'neighborhoods', 'top'],
    },
    annotations: READ_ONLY,
  },
];

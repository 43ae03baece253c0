import { LEVELS, type Tool } from './types.ts';

/** The two tools that the service documents, with the arguments it documents for them. */
export const DOCUMENTED_TOOLS: readonly Tool[] = [
  {
    name: 'find_restaurant',
    description: 'Search restaurants by name and city.',
    inputSchema: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Restaurant name to search.' },
        city: { type: 'string', description: 'City to search in.' },
      },
      required: ['name', 'city'],
    },
  },
  {
    name: 'lookup_restaurant',
    description: 'Details of one restaurant. The levels standard and premium need a paid key.',
    inputSchema: {
      type: 'object',
      properties: {
        restaurant_id: {
          type: 'string',
          description: 'The service_id of a restaurant from find_restaurant.',
        },
        fields: {
          type: 'string',
          enum: LEVELS.filter((level) => level !== 'basic'),
          description: 'Level of detail. Left out: basic.',
        },
      },
      required: ['restaurant_id'],
    },
  },
];

import { LEVELS, type Tool } from './types.ts';

/** Some MCP clients call a tool without asking the user only when it is marked as read-only. */
const READ_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true };

/** The two tools that the service documents, with the arguments it documents for them. */
export const DOCUMENTED_TOOLS: readonly Tool[] = [
  {
    name: 'find_restaurant',
    title: 'Find restaurants',
    annotations: READ_ONLY,
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
    title: 'Look up a restaurant',
    annotations: READ_ONLY,
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

import { version } from '../package.json' with { type: 'json' };

export const VERSION: string = version;

/** The packages in the bundle, one per line. The build replaces this text. */
export const BUNDLED = 'none, since it runs from its sources';

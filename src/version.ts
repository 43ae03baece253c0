import { version } from '../package.json' with { type: 'json' };

/** The version of this program, as its package says. */
export const VERSION: string = version;

/** The packages in the bundle, a line each. The build puts them in the place of this text. */
export const BUNDLED = 'none, since it runs from its sources';

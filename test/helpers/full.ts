/** Whether all cases run: `npm run test:all`, as in CI. `npm test` runs fewer of those that take long. */
export const IS_FULL = process.env.TEST_MODE === 'full';

/** Returns the number or value for `npm test`, or the one for all cases. */
export const fewOrAll = <T>(few: T, all: T): T => (IS_FULL ? all : few);

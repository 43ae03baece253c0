const FIND = ['find', 'Nopa', '--city', 'SF'];

/** Commands that fail, each with the faults of the sandbox and the attempts that it makes. */
export const FAILURES = [
  { title: 'a 429', words: [...FIND, '--retries', '0'], faults: ['429'], attempts: 1, exit: 5 },
  { title: 'a 429 after a retry', words: [...FIND, '--retries', '1'], faults: ['429'], attempts: 2, exit: 5 },
  { title: 'a 401', words: FIND, faults: ['401'], attempts: 1, exit: 4 },
  {
    title: 'an unknown id',
    words: ['lookup', '00000000-0000-4000-8000-000000000000'],
    faults: [],
    attempts: 1,
    exit: 3,
  },
  {
    title: 'a quota that is used up',
    words: [...FIND, '--fields', 'standard', '--limit', '1'],
    faults: [],
    attempts: 1,
    exit: 5,
    settings: { RESTAURANT_PER_DAY: '1' },
  },
];

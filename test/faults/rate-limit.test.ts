import { type Fault, faultsEnding, good, httpResponse, inSequence, type Reply } from './fault.ts';
import { faultSuite } from './suite.ts';

const found = faultsEnding({ exit: 0, stdout: 'Nopa' });
const rate = faultsEnding({ exit: 5, code: 'rate_limited' });

/** Makes faults of nine calls, four at a time, without a quota. */
const many = faultsEnding({
  exit: 0,
  words: ['lookup', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'],
  env: { RESTAURANT_PER_MINUTE: '0', RESTAURANT_PER_DAY: '0' },
});

const slowDown =
  (...fields: string[]): Reply =>
  () =>
    httpResponse('', {
      status: '429 Too Many Requests',
      more: fields.map((value) => `Retry-After: ${value}\r\n`).join(''),
    });

const faults: Fault[] = [
  found('429 for 7 seconds', inSequence(slowDown('7'), good), { requests: 2, waits: [7125] }),
  found('429 for longer than --timeout, within --max-wait', inSequence(slowDown('50'), good), {
    requests: 2,
    waits: [50_125],
  }),
  found(
    '429 with two Retry-After fields, of which the larger is used',
    inSequence(slowDown('3', '9'), good),
    {
      requests: 2,
      waits: [9125],
    },
  ),
  found('429 with a valid and an invalid Retry-After', inSequence(slowDown('soon', '3'), good), {
    requests: 2,
    waits: [3125],
  }),
  rate('429 for 31,709 years', slowDown('999999999999'), { waits: [], message: '31,709 years' }),
  rate('429 with a Retry-After that is too large for a number', slowDown('9'.repeat(400)), {
    requests: 3,
    waits: [500, 500],
  }),
  rate('429 for a day', slowDown('86400'), {
    waits: [],
    message: /wait 24 hours|wait 1 day/,
  }),
  rate('429 with Retry-After 0, without a busy loop', slowDown('0'), { requests: 3, waits: [625, 625] }),
  ...['', 'abc', '-5', '1.5', '1e3', '0x10', 'Infinity', 'Thu, 01 Jan 1970 00:00:00 GMT', '2026-01-02'].map(
    (value): Fault =>
      rate(`429 with Retry-After ${JSON.stringify(value)}`, slowDown(value), {
        requests: 3,
        waits: [500, 500],
      }),
  ),
  many('429 for the first of many calls', inSequence(slowDown('5'), good), { requests: 9 }),
  many('429 for all calls in progress', (request) => (request.count < 4 ? slowDown('5') : good)(request), {
    requests: [9, 12],
  }),
  rate('429 without Retry-After', slowDown(), { requests: 3, waits: [500, 500] }),
];

faultSuite('rate limit', faults);

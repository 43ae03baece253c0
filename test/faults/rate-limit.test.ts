import {
  type Fault,
  type FaultRow,
  faultsEnding,
  good,
  httpResponse,
  inSequence,
  type Reply,
  rowsFor,
} from './fault.ts';
import { faultSuite } from './suite.ts';

const found = faultsEnding({ exit: 0, stdout: 'Nopa', requests: 2 });
const rate = faultsEnding({ exit: 5, code: 'rate_limited' });
/** Makes faults that are requested twice again, after half a second. */
const retried = faultsEnding({ exit: 5, code: 'rate_limited', requests: 3, waits: [500, 500] });

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

/** A 429, then a wait in ms and a valid response. */
const waits = (ms: number, ...fields: string[]): FaultRow => [
  inSequence(slowDown(...fields), good),
  { waits: [ms] },
];

const faults: Fault[] = [
  ...found({
    '429 for 7 seconds': waits(7125, '7'),
    '429 for longer than --timeout, within --max-wait': waits(50_125, '50'),
    '429 with two Retry-After fields, of which the larger is used': waits(9125, '3', '9'),
    '429 with a valid and an invalid Retry-After': waits(3125, 'soon', '3'),
  }),
  ...rate({
    '429 for 31,709 years': [slowDown('999999999999'), { waits: [], message: '31,709 years' }],
    '429 for a day': [slowDown('86400'), { waits: [], message: /wait 24 hours|wait 1 day/ }],
    '429 with Retry-After 0, without a busy loop': [slowDown('0'), { requests: 3, waits: [625, 625] }],
  }),
  ...retried({
    '429 without Retry-After': slowDown(),
    '429 with a Retry-After that is too large for a number': slowDown('9'.repeat(400)),
    ...rowsFor('429 with Retry-After', ['', 'abc'], (value) => slowDown(value)),
  }),
  ...many({
    '429 for the first of many calls': [inSequence(slowDown('5'), good), { requests: 9 }],
    '429 for all calls in progress': [
      (request) => (request.count < 4 ? slowDown('5') : good)(request),
      { requests: [9, 12] },
    ],
  }),
];

faultSuite('rate limit', faults);

import { describe, expect, it } from 'vitest';
import { legacyServer, modernServer, useEndpoint } from '../../helpers/asking-servers.ts';
import { newHome, type RunOptions, runCli } from '../../helpers/program.ts';
import { PAID } from '../../helpers/service.ts';
import { restaurantInTerminal } from '../../helpers/terminal.ts';

/** Text of the error. A server of 2026-07-28 asks only clients that can answer. */
const QUESTION = {
  '2026-07-28': /elicitation/,
  '2025-11-25': /cannot provide: input \(elicitation\/create\) \\?"A table for whom\?/,
};

const AT_TERMINAL = { stdin: true, stderr: true };

function book(endpoint: string, options: RunOptions = {}, ...words: string[]) {
  const env = { ...newHome().env, TERM: 'dumb', RESTAURANT_API_KEY: PAID, ...options.env };
  return runCli(['call', 'book', '--endpoint', endpoint, ...words], { ...options, env });
}

describe.each([
  ['2026-07-28', modernServer()],
  ['2025-11-25', legacyServer()],
] as const)('a tool of a server of %s that asks', (version, listener) => {
  const endpoint = useEndpoint(listener);

  it('gets the reply typed at a terminal, which names the host', async () => {
    const answers = { text: ['', 'Ada'] };
    const { exit, stdout, stderr } = await book(endpoint(), { tty: AT_TERMINAL, answers });
    expect([exit, stdout]).toEqual([0, 'Booked for Ada\n']);
    expect(stderr).toBe(`${new URL(endpoint()).host} asks: A table for whom?\n`);
  });

  it('may be declined', async () => {
    const { exit, stdout } = await book(endpoint(), { tty: AT_TERMINAL, answers: { text: 'n' } });
    expect([exit, stdout]).toEqual([0, 'decline\n']);
  });

  it.each([
    ['without a terminal', {}, []],
    ['with --json', { tty: AT_TERMINAL }, ['--json']],
    ['with --no-input', { tty: AT_TERMINAL }, ['--no-input']],
    ['with --agent', { tty: AT_TERMINAL }, ['--agent']],
  ] as const)('fails %s', async (_when, options, words) => {
    const { exit, stdout, stderr } = await book(endpoint(), options, ...words);
    expect([exit, stdout]).toEqual([7, '']);
    expect(stderr.replace(/\s+/g, ' ')).toMatch(QUESTION[version]);
    expect(stderr.replace(/\s+/g, ' ')).toContain('restaurant mcp config');
  });
});

describe('a form', () => {
  const text = { type: 'string' as const };
  const endpoint = useEndpoint(
    modernServer({
      mode: 'form',
      message: 'Details\u001b[2J?',
      requestedSchema: {
        type: 'object',
        properties: {
          guest: text,
          seats: { type: 'integer', description: 'Seats' },
          place: { ...text, enum: ['inside', 'outside'] },
          smoking: { type: 'boolean', default: false },
          note: text,
        },
        required: ['guest', 'seats', 'place'],
      },
    }),
  );

  it('asks for every field until the reply is valid, and for no more', async () => {
    const answers = { text: ['y', '', 'Ada', 'two', '2', 'roof', 'inside', '', ''] };
    const { stdout, stderr } = await book(endpoint(), { tty: AT_TERMINAL, answers });
    expect(stdout).toBe('guest\tAda\nseats\t2\nplace\tinside\nsmoking\tfalse\n');
    expect(stderr.split('\n').slice(1)).toEqual([
      'expected a text',
      'expected a whole number',
      'expected inside, outside',
      '',
    ]);
    expect(stderr).not.toContain('\u001b');
  });
});

describe('an address to open', () => {
  const url = 'https://pay.example.com/order/1';
  const endpoint = useEndpoint(modernServer({ mode: 'url', message: 'Pay first', url, elicitationId: 'x' }));
  const script = useEndpoint(
    modernServer({ mode: 'url', message: 'Pay', url: 'file:///etc/passwd', elicitationId: 'x' }),
  );

  it('is shown before it is opened, and opened only after a yes', async () => {
    const declined = await book(endpoint(), { tty: AT_TERMINAL, answers: { text: '' } });
    expect(declined.stdout).toBe('decline\n');
    expect(declined.stderr).toContain(`asks: Pay first\n${url}\n`);
    const options = { tty: AT_TERMINAL, answers: { text: 'y' }, env: { BROWSER: '/no/such/browser' } };
    const accepted = await book(endpoint(), options);
    expect(accepted.stdout).toBe('accept\n');
    expect(accepted.stderr).toContain(`${url}\nopen it yourself: /no/such/browser cannot be started\n`);
  });

  it('is declined if it is not a web address', async () => {
    const { stdout, stderr } = await book(script(), { tty: AT_TERMINAL, answers: {} });
    expect(stdout).toBe('decline\n');
    expect(stderr).toContain('declined: it is not a web address');
  });
});

describe('a server that asks twice at once, with fields of the wrong type', () => {
  const text = { toString: 1 };
  const form = { message: text, requestedSchema: { properties: { guest: { title: text, default: text } } } };
  const endpoint = useEndpoint(
    legacyServer(
      form,
      { mode: 'url', message: 'Pay', url: 'https://pay.example.com/' },
      { mode: 'url', url: text },
    ),
  );

  it('gets one reply after the other', async () => {
    const answers = { text: ['y', 'Ada', 'n'] };
    const { stdout, stderr } = await book(endpoint(), { tty: AT_TERMINAL, answers });
    expect(JSON.parse(stdout.replace('replies: ', ''))).toEqual([
      { action: 'accept', content: { guest: 'Ada' } },
      { action: 'decline' },
      { action: 'decline' },
    ]);
    expect(stderr).toContain('asks: Pay\nhttps://pay.example.com/\n');
  });
});

describe.skipIf(process.platform === 'win32')('in a terminal', () => {
  const endpoint = useEndpoint(modernServer());

  it('shows the question without the spinner, and takes the reply', async () => {
    const { env } = newHome();
    const terminal = restaurantInTerminal(['call', 'book', '--endpoint', endpoint()], {
      env: { ...env, RESTAURANT_API_KEY: PAID },
    });
    await terminal.shown('A table for whom?');
    await terminal.shown('Reply? [Y/n]');
    terminal.type('y\r');
    await terminal.shown('Guest');
    terminal.type('Ada\r');
    const { exit, output } = await terminal.ended;
    expect(exit).toBe(0);
    expect(output).toContain('Booked for Ada');
    const asked = output.slice(output.indexOf('asks:'), output.lastIndexOf('Guest'));
    expect(asked).not.toMatch(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
  });
});

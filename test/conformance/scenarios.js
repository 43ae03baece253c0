// The scenarios of the official MCP conformance suite: those that are run, with their commands, and those that are excluded,
// with the reason.
const LEGACY = ['2025-06-18', '2025-11-25'];
const LAST_LEGACY = ['2025-11-25'];
const MODERN = ['2026-07-28'];

/** `line`: the command, which is run with `--endpoint <url>`. Without a line, test/conformance/client.js is run. */
export const CLIENT = [
  { scenario: 'initialize', versions: LEGACY, line: 'tools --protocol 2025-11-25' },
  { scenario: 'tools_call', versions: LEGACY, line: 'call add_numbers a=5 b=3' },
  { scenario: 'tools_call', versions: LEGACY, line: 'call add_numbers a=5 b=3 --protocol 2025-11-25' },
  { scenario: 'tools_call', versions: MODERN, line: 'call add_numbers a=5 b=3 --protocol 2026-07-28' },
  { scenario: 'sse-retry', versions: LAST_LEGACY, line: 'call test_reconnection' },
  { scenario: 'sse-retry', versions: LAST_LEGACY, line: 'call test_reconnection --protocol 2025-11-25' },
  { scenario: 'request-metadata', versions: MODERN, line: 'tools --protocol 2026-07-28' },
  { scenario: 'http-standard-headers', versions: MODERN },
  { scenario: 'http-custom-headers', versions: MODERN },
  { scenario: 'http-invalid-tool-headers', versions: MODERN },
  { scenario: 'json-schema-ref-no-deref', versions: MODERN },
  { scenario: 'json-schema-2020-12-preservation', versions: [...LAST_LEGACY, ...MODERN] },
];

const NO_SUCH_THING = 'the sandbox has tools alone';

/**
 * `expected`: checks that cannot succeed, with the reason. Checks for a diagnostic tool that only the suite defines fail in
 * every scenario.
 */
export const SERVER = [
  { scenario: 'server-initialize', versions: LEGACY },
  { scenario: 'server-session-lifecycle', versions: ['2025-03-26', ...LEGACY] },
  { scenario: 'server-stateless', versions: MODERN },
  { scenario: 'ping', versions: LEGACY },
  { scenario: 'tools-list', versions: [...LEGACY, ...MODERN] },
  { scenario: 'server-sse-multiple-streams', versions: [...LAST_LEGACY, ...MODERN] },
  { scenario: 'dns-rebinding-protection', versions: [...LAST_LEGACY, ...MODERN] },
  { scenario: 'http-header-validation', versions: MODERN },
  { scenario: 'http-custom-header-server-validation', versions: MODERN },
  {
    scenario: 'caching',
    versions: MODERN,
    expected: {
      'sep-2549-prompts-list-caching-hints': NO_SUCH_THING,
      'sep-2549-resources-list-caching-hints': NO_SUCH_THING,
      'sep-2549-resources-templates-list-caching-hints': NO_SUCH_THING,
    },
  },
  { scenario: 'input-required-result-unsupported-methods', versions: MODERN },
];

export const LEFT_OUT = [
  {
    names: /^server-sse-polling$/,
    why: 'event streams that can be resumed, which are optional: the sandbox has none',
  },
  { names: /^auth\/|^authorization-/, why: 'OAuth is out of scope: the service uses keys' },
  {
    names: /^elicitation-sep1034-client-defaults$|^sep-2322-client-request-state$/,
    why: 'a client that answers questions of the server; a command line says that it cannot',
  },
  { names: /^sep-2640-|^tasks-/, why: 'extensions of the protocol: skills, tasks' },
  {
    names: /^(prompts|resources|completion)-|^sep-2164-|^logging-set-level$/,
    why: 'prompts, resources, completion, logging: the sandbox has tools alone',
  },
  {
    names: /^tools-call-|^json-schema-2020-12$|^elicitation-sep|^input-required-result-/,
    why: 'a server with fixture tools of the suite',
  },
];

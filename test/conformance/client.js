// The client that the conformance suite starts for scenarios with more than one command line.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../../bin/restaurant.js', import.meta.url));
const {
  MCP_CONFORMANCE_SCENARIO: scenario,
  MCP_CONFORMANCE_CONTEXT: context = '{}',
  MCP_CONFORMANCE_PROTOCOL_VERSION: protocol,
} = process.env;
const url = process.argv.at(-1);

/** Runs a command and returns its output. Any exit code other than `wanted` ends the client with an error. */
function restaurant(words, wanted = 0) {
  const options = ['--protocol', protocol, '--endpoint', url];
  const { status, stdout } = spawnSync(process.execPath, [bin, ...words, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (status !== wanted) throw new Error(`restaurant ${words.join(' ')} ended with ${status}, not ${wanted}`);
  return stdout;
}

const listed = () => JSON.parse(restaurant(['tools', '--json'])).tools;
const call = (name, args, wanted) => restaurant(['call', name, '--args', JSON.stringify(args)], wanted);

const SCENARIOS = {
  'http-standard-headers'() {
    for (const { name } of listed()) call(name, {});
    restaurant(['raw', 'resources/list']);
    restaurant(['raw', 'resources/read', '-f', 'uri=file:///path/to/file%20name.txt']);
    restaurant(['raw', 'prompts/list']);
    restaurant(['raw', 'prompts/get', '-f', 'name=test_prompt']);
  },
  'http-custom-headers'() {
    for (const { name, arguments: args } of JSON.parse(context).toolCalls) {
      const hasNull = Object.values(args).includes(null);
      if (!hasNull) call(name, args);
      // The schemas of these tools do not allow null, so `call` would not send it.
      else restaurant(['raw', 'tools/call', JSON.stringify({ name, arguments: args })]);
    }
  },
  'http-invalid-tool-headers'() {
    const names = listed().map(({ name }) => name);
    if (names.some((name) => name.startsWith('invalid_'))) throw new Error(`listed: ${names}`);
    call('invalid_empty_header', { region: 'eu' }, 3);
    call('valid_tool', { region: 'eu' });
  },
  'json-schema-ref-no-deref'() {
    // The server of this scenario lists tools and has none.
    for (const { name } of listed()) call(name, {}, 7);
  },
  'json-schema-2020-12-preservation'() {
    const tool = listed().find(({ name }) => name === 'json_schema_2020_12_tool');
    call('json_schema_echo', { schema: tool.inputSchema });
  },
};

SCENARIOS[scenario]();

import { parse as parseToml } from '@decimalturn/toml-patch';
import fc from 'fast-check';
import { parse as parseJsonc } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { MCP_CLIENTS, type McpClient } from '../../../src/mcp/client-config/clients.ts';
import { editText } from '../../../src/mcp/client-config/edit.ts';
import { buildEntry, type Entry, KEY_HEADER, mergeEntry } from '../../../src/mcp/client-config/entry.ts';

function client(name: string): McpClient {
  const found = MCP_CLIENTS.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no client ${name}`);
  return found;
}

const HTTP = {
  via: 'http',
  url: 'https://api.example.com/api/mcp',
  headers: KEY_HEADER,
  isLiteral: false,
} as const;
const NONE = { env: {}, names: [], missing: [] };
const STDIO = { via: 'stdio', args: ['mcp'], variables: NONE } as const;
const cursor = buildEntry(client('cursor'), HTTP);
const cursorStdio = buildEntry(client('cursor'), STDIO);
const codex = buildEntry(client('codex'), HTTP);
const codexStdio = buildEntry(client('codex'), STDIO);

const json = (text: string, entry: Entry = cursor, servers = 'mcpServers') =>
  editText({ servers }, text, entry.input, (existing) => mergeEntry(existing, entry.value));
const toml = (text: string, { value, input }: Entry = codex) =>
  editText(client('codex'), text, input, (existing) => mergeEntry(existing, value));

/** Returns the lines that only one of two texts contains. */
function changedLines(before: string, after: string): string[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const only = (lines: string[], others: string[]) => lines.filter((line) => !others.includes(line));
  return [...only(old, now).map((line) => `- ${line}`), ...only(now, old).map((line) => `+ ${line}`)];
}

describe('editText, with JSON', () => {
  it('creates the content of a missing or blank file', () => {
    for (const text of ['', '  \n']) {
      expect(json(text)).toBe(`{
  "mcpServers": {
    "restaurant": {
      "url": "https://api.example.com/api/mcp",
      "headers": {
        "Authorization": "Bearer \${env:RESTAURANT_API_KEY}"
      }
    }
  }
}
`);
    }
  });

  it('keeps comments, trailing commas, other entries and indentation', () => {
    const text = `// my servers
{
    "theme": "dark", // as ever
    "mcpServers": {
        /* the other one */
        "other": { "command": "x", "env": { "TOKEN": "t" }, },
    },
}
`;
    const after = json(text);
    expect(changedLines(text, after)).toEqual([
      '+         "restaurant": {',
      '+             "url": "https://api.example.com/api/mcp",',
      '+             "headers": {',
      `+                 "Authorization": "Bearer \${env:RESTAURANT_API_KEY}"`,
      '+             }',
      '+         },',
    ]);
    expect(json(after)).toBe(after);
  });

  it.each([
    ['{"a":1}', '{\n  "mcpServers": {'],
    ['{}', '{\n  "mcpServers": {'],
    ['{ // none yet\n}\n', '\n  } // none yet\n}\n'],
    ['{\n  "a": 1 // one\n}\n', '  },\n  "a": 1 // one\n}\n'],
    ['{\n  // one\n  "a": 1,\n  // two\n}\n', '  },\n  // one\n  "a": 1,\n  // two\n}\n'],
    ['{ /* a */ "a": 1 }\n', '\n  }, /* a */\n  "a": 1\n}\n'],
    ['{"mcpServers": {}, "b": 2}', '{\n  "mcpServers": {\n    "restaurant": {'],
    [
      '{\n   "mcpServers": {\n      "x": {}\n   }\n}',
      '   "mcpServers": {\n      "restaurant": {\n         "url"',
    ],
  ])('inserts whole lines into %j', (text, part) => {
    const after = json(text);
    expect(after).toContain(part);
    expect(changedLines(text, after).filter((line) => line.startsWith('- ')).length).toBeLessThanOrEqual(1);
    expect(json(after)).toBe(after);
  });

  it('keeps tabs, CRLF and a byte order mark', () => {
    const text = '\uFEFF{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n';
    const after = json(text);
    expect(after.startsWith('\uFEFF{\r\n\t"mcpServers"')).toBe(true);
    expect(after.replaceAll('\r\n', '')).not.toContain('\n');
    expect(after).toContain('\r\n\t\t"restaurant": {\r\n\t\t\t"url"');
  });

  it('changes only its own entry and keeps keys that the user added', () => {
    const text = `{
  "mcpServers": {
    "restaurant": {
      // mine
      "command": "restaurant",
      "args": ["mcp"],
      "autoApprove": ["find_restaurant"] // not to be asked
    }
  }
}
`;
    const after = json(text);
    expect(parseJsonc(after)).toEqual({
      mcpServers: { restaurant: { ...cursor.value, autoApprove: ['find_restaurant'] } },
    });
    expect(after).toContain('// not to be asked');
    expect(parseJsonc(json(after, cursorStdio))).toEqual({
      mcpServers: { restaurant: { ...cursorStdio.value, autoApprove: ['find_restaurant'] } },
    });
  });

  it('replaces an entry that is not an object', () => {
    expect(parseJsonc(json('{"mcpServers":{"restaurant":null}}'))).toEqual({
      mcpServers: { restaurant: cursor.value },
    });
  });

  it('adds the inputs of vscode once', () => {
    const vscode = buildEntry(client('vscode'), HTTP);
    const text = '{\n  // asks\n  "inputs": [\n    { "id": "other", "type": "promptString" }\n  ]\n}\n';
    const after = json(text, vscode, 'servers');
    const root = parseJsonc(after);
    expect(root.inputs).toEqual([vscode.input, { id: 'other', type: 'promptString' }]);
    expect(root.servers).toEqual({ restaurant: vscode.value });
    expect(after).toContain('// asks');
    expect(json(after, vscode, 'servers')).toBe(after);
    expect(json('{ "inputs": [\n  // none yet\n] }', vscode, 'servers')).toContain('// none yet');
  });

  it.each([
    ['cut off', '{"mcpServers": {'],
    ['not JSON', 'hello'],
    ['an array', '[]'],
    ['a number', '7'],
    ['two documents', '{} {}'],
    ['single quotes', "{'a': 1}"],
    ['servers that are an array', '{"mcpServers": []}'],
    ['servers that are null', '{"mcpServers": null}'],
    ['a duplicate key', '{"mcpServers": {"a": 1}, "mcpServers": {"b": 1}}'],
  ])('rejects an invalid file: %s', (_what, text) => {
    expect(() => json(text)).toThrow(SyntaxError);
  });

  it('names the line of the error', () => {
    expect(() => json('{\n  "a": 1\n  "b": 2\n}')).toThrow('line 3');
  });

  it('keeps members named __proto__', () => {
    const after = json('{"__proto__":{"a":1},"mcpServers":{"__proto__":{}}}');
    expect(Object.entries(JSON.parse(after))).toEqual([
      ['__proto__', { a: 1 }],
      ['mcpServers', JSON.parse(`{"__proto__":{},"restaurant":${JSON.stringify(cursor.value)}}`)],
    ]);
    expect(json(after)).toBe(after);
  });

  it('changes nothing else in any JSON, and nothing the second time', () => {
    const value = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, '\t', 2, 4), fc.boolean(), (root, indent, crlf) => {
        const servers = root.mcpServers;
        fc.pre(
          servers === undefined ||
            (typeof servers === 'object' && servers !== null && !Array.isArray(servers)),
        );
        const plain = JSON.stringify(root, null, indent);
        const text = crlf ? plain.replaceAll('\n', '\r\n') : plain;
        const after = json(text);
        const own = Object.getOwnPropertyDescriptor(servers ?? {}, 'restaurant')?.value;
        fc.pre(typeof own !== 'object');
        expect(JSON.parse(after)).toEqual({
          ...JSON.parse(text),
          mcpServers: { ...(JSON.parse(text).mcpServers ?? {}), restaurant: cursor.value },
        });
        expect(json(after)).toBe(after);
      }),
      { numRuns: 200, examples: [[JSON.parse('{"__proto__":{}}'), undefined, false]] },
    );
  });
});

describe('editText, with TOML', () => {
  it('creates the content of a missing file', () => {
    expect(toml('')).toBe(
      '[mcp_servers.restaurant]\nurl = "https://api.example.com/api/mcp"\nbearer_token_env_var = "RESTAURANT_API_KEY"\n',
    );
  });

  it.each([
    [
      'comments and tables',
      '# mine\nmodel = "o3" # which\n\n[mcp_servers.a]\ncommand = "x" # keep\n\n[tui]\nb = 1\n',
    ],
    ['no line break at the end', 'model = "o3"'],
    ['CRLF', '# mine\r\nmodel = "o3"\r\n\r\n[tui]\r\nb = 1\r\n'],
    ['dotted keys', 'mcp_servers.a.command = "x"\n[tui]\nb = 1\n'],
    ['an array of tables at the end', '[[x]]\na = 1\n[[x]]\na = 2\n'],
    ['dates and large numbers', 'at = 1979-05-27T07:32:00-08:00\nbig = 9223372036854775807\n'],
  ])('keeps the text before it byte for byte: %s', (_what, text) => {
    const after = toml(text);
    expect(after.startsWith(text)).toBe(true);
    expect(parseToml(after).mcp_servers.restaurant).toEqual(parseToml(toml('')).mcp_servers.restaurant);
    if (text.includes('\r\n')) expect(after.replaceAll('\r\n', '')).not.toContain('\n');
    expect(toml(after)).toBe(after);
  });

  it('adds to an inline table', () => {
    const after = toml('mcp_servers = { a = { command = "x" } } # all of them\nmodel = "o3"\n');
    expect(parseToml(after)).toMatchObject({
      model: 'o3',
      mcp_servers: { a: { command: 'x' }, restaurant: { url: HTTP.url } },
    });
    expect(after).toContain('# all of them');
  });

  it('changes only its own table and keeps keys that the user added', () => {
    const text = `# top
[mcp_servers.restaurant]
command = "restaurant"
args = ["mcp"]
startup_timeout_sec = 20 # slow machine

[mcp_servers.restaurant.tools.find_restaurant]
approval_mode = "approve"

[tui]
b = 1 # last
`;
    const after = toml(text);
    expect(parseToml(after).mcp_servers.restaurant).toMatchObject({
      url: HTTP.url,
      bearer_token_env_var: 'RESTAURANT_API_KEY',
      startup_timeout_sec: 20,
      tools: { find_restaurant: { approval_mode: 'approve' } },
    });
    expect(parseToml(after).mcp_servers.restaurant).not.toHaveProperty('command');
    for (const kept of ['# top', '# slow machine', 'b = 1 # last']) expect(after).toContain(kept);
    expect(toml(after)).toBe(after);
    expect(parseToml(toml(after, codexStdio)).mcp_servers.restaurant).toMatchObject({
      command: 'restaurant',
      args: ['mcp'],
    });
  });

  it.each([
    ['not TOML', 'hello'],
    ['a duplicate key', 'a = 1\na = 2\n'],
    ['servers that are not a table', 'mcp_servers = 7\n'],
  ])('rejects an invalid file: %s', (_what, text) => {
    expect(() => toml(text)).toThrow(SyntaxError);
  });

  it('reports the line of the error without quoting the file', () => {
    const edit = () => toml('ok = 1\nkey = sk_service_secret_secret\n');
    expect(edit).toThrow('line 2');
    expect(edit).not.toThrow('secret');
  });
});

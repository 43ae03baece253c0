import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { describe, expect, it } from 'vitest';
import { useService } from '../../helpers/service.ts';
import { connectHost, useInstalled } from './installed.ts';

const installed = useInstalled();
const service = useService({ mode: 'mcp' });

const MODES = [
  ['legacy', '2025-11-25'],
  ['auto', '2026-07-28'],
  ['pinned', '2026-07-28'],
] as const;

const FIND = { name: 'find_restaurant', arguments: { name: 'Nopa', city: 'SF' } };

const textsOf = ({ content }: { content: unknown }): string[] =>
  (content as { text: string }[]).map(({ text }) => text);

describe.each(MODES)('a host in mode %s', (mode, version) => {
  it('lists and calls the tools, and reads the skill', async () => {
    const client = await connectHost(installed, { mode, env: service.env });
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerVersion()).toMatchObject({ name: 'restaurant' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('explore_area');
    const [text = ''] = textsOf(await client.callTool(FIND));
    expect(JSON.parse(text)).toMatchObject({ status: 'ok', total_matches: 3 });

    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      'skill://restaurant/SKILL.md',
      'restaurant://sample/cities',
    ]);
    const skills = new SkillsClient(client);
    expect(skills.supported).toBe(true);
    const [skill] = (await skills.list()).skills;
    if (skill === undefined) throw new Error('no skill');
    expect((await skills.get(skill.uri)).skill).toEqual(skill);
    const file = await skills.read(skill);
    expect(file).toMatchObject({ verified: true, frontmatter: { name: 'restaurant' } });
    expect(file.body).toContain('restaurant find');
    await expect(skills.get('skill://other/SKILL.md')).rejects.toMatchObject({ code: -32602 });
  });

  it('gets bounded results', async () => {
    const args = ['--columns', 'name,city', '--max-results', '1'];
    const client = await connectHost(installed, { mode, args, env: service.env });
    const area = { name: 'explore_area', arguments: { city: 'SF' } };
    const { tools } = await client.listTools();
    expect(tools.every(({ outputSchema }) => outputSchema === undefined)).toBe(true);
    const [text = '', note] = textsOf(await client.callTool(FIND));
    expect(JSON.parse(text).results).toEqual([{ name: 'Nopa', city: 'San Francisco' }]);
    expect(note).toBe('Cut: 1 of 3 records.');
    expect(await client.callTool(area)).not.toHaveProperty('structuredContent');
  });
});

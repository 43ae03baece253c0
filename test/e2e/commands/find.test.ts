import { expect, it } from 'vitest';
import { useService } from '../../helpers/service.ts';

const service = useService();

it('find sends the name byte for byte', async () => {
  for (const name of ['--spicy', 'a"b\'c\\', 'Café Zoë', '寿司🍣', 'line\nbreak', 'x'.repeat(10_000)]) {
    expect((await service.run(['find', '--city', 'SF', '--', name])).exit).toBe(0);
    const params = { name: 'find_restaurant', arguments: { name, city: 'SF' } };
    expect(service.sandbox.requests.at(-1)?.body).toEqual({
      jsonrpc: '2.0',
      id: expect.any(Number),
      method: 'tools/call',
      params,
    });
  }
});

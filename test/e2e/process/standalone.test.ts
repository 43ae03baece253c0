import { describe, expect, it } from 'vitest';
import { TestFolder } from '../../helpers/files.ts';
import { restaurant } from '../../helpers/process.ts';

describe('the folder in which the program runs', () => {
  it('configures neither the program nor its runtime', async () => {
    const folder = new TestFolder();
    folder.write('.env', 'RESTAURANT_BASE_URL=https://evil.example\nRESTAURANT_API_KEY=sk_service_evil\n');
    folder.write('evil.js', "require('node:fs').writeFileSync('ran', '');\n");
    folder.write('bunfig.toml', 'preload = ["./evil.js"]\n');
    folder.write('package.json', '{"type":"module","main":"evil.js"}\n');
    const options = { cwd: folder.path, env: { HOME: folder.path } };
    const { exit, stdout } = await restaurant(['status', '--json'], options);
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ endpoint: null, key: { present: false } });
    expect(folder.list()).not.toContain('ran');
  });
});

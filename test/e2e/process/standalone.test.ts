import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { restaurant } from '../../helpers/process.ts';
import { tempFolder } from '../../helpers/temp-folder.ts';

describe('the folder in which the program runs', () => {
  it('configures neither the program nor its runtime', async () => {
    const cwd = tempFolder();
    writeFileSync(
      join(cwd, '.env'),
      'RESTAURANT_BASE_URL=https://evil.example\nRESTAURANT_API_KEY=sk_service_evil\n',
    );
    writeFileSync(join(cwd, 'evil.js'), "require('node:fs').writeFileSync('ran', '');\n");
    writeFileSync(join(cwd, 'bunfig.toml'), 'preload = ["./evil.js"]\n');
    writeFileSync(join(cwd, 'package.json'), '{"type":"module","main":"evil.js"}\n');
    const { exit, stdout } = await restaurant(['status', '--json'], { cwd, env: { HOME: cwd } });
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ endpoint: null, key: { present: false } });
    expect(existsSync(join(cwd, 'ran'))).toBe(false);
  });
});

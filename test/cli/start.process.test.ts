import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../../src/version.ts';
import { startScene } from '../support/command.ts';

describe('start of the command', () => {
  it('keeps compiled code in the cache folder of the user', async () => {
    const { run, folder } = await startScene();
    const { code } = await run(['--help'], { env: { XDG_CACHE_HOME: undefined } });
    expect(code).toBe(0);
    const cache = join(folder, '.cache/audience-activation');
    expect(readdirSync(cache, { recursive: true }).length).toBeGreaterThan(1);
  });

  it('keeps it where XDG_CACHE_HOME says', async () => {
    const { run, folder } = await startScene();
    await run(['--help'], { env: { XDG_CACHE_HOME: join(folder, 'elsewhere') } });
    expect(existsSync(join(folder, 'elsewhere/audience-activation'))).toBe(true);
    expect(existsSync(join(folder, '.cache'))).toBe(false);
  });

  it.each([{ HOME: '/dev/null', XDG_CACHE_HOME: undefined }, { NODE_DISABLE_COMPILE_CACHE: '1' }])(
    'runs without a cache: %o',
    async (env) => {
      const { run } = await startScene();
      const { code, out, err } = await run(['help', 'exit-codes'], { env });
      expect({ code, out, err }).toEqual({ code: 0, out: expect.stringMatching(/^Exit codes:/), err: '' });
    },
  );

  it.each([['--version'], ['-v']])('%s prints the version and loads no code that would be compiled', async (flag) => {
    const { run, folder } = await startScene();
    const { code, out, err } = await run([flag], { env: { XDG_CACHE_HOME: undefined } });
    expect({ code, out, err }).toEqual({ code: 0, out: `${VERSION}\n`, err: '' });
    expect(existsSync(join(folder, '.cache'))).toBe(false);
  });
});

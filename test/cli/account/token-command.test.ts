import { describe, expect, it } from 'vitest';
import { runForToken } from '../../../src/cli/account/token-command.ts';
import { startScene } from '../support/run-command.ts';

const run = (command: string): Promise<string> =>
  runForToken(command, { env: process.env, signal: new AbortController().signal });

describe('a token command', () => {
  it('is refused for a line of more than 64 KiB', async () => {
    const scene = await startScene();
    const { code, out, err } = await scene.run(['budget', '--token-command', "exec tr '\\0' x < /dev/zero"], {
      env: { AUDIENCE_TOKEN: undefined },
    });
    expect({ code, out }).toEqual({ code: 7, out: '' });
    expect(err).toContain('The token command printed no token: its first line is longer than 64 KiB.');
  });

  it.each([
    ['with a line feed', 'echo a-token; sleep 20 2>/dev/null &'],
    ['without a line feed', 'printf a-token; sleep 20 2>/dev/null &'],
  ])(
    'does not wait for a background program that keeps its output open, %s',
    async (_, command) => {
      expect(await run(command)).toBe('a-token');
    },
    10_000,
  );

  it('fails with its exit code while its background program runs', async () => {
    await expect(run('printf a-token; sleep 20 2>/dev/null & exit 3')).rejects.toThrow(
      'The token command failed with exit code 3.',
    );
  });

  it('fails with the exit code that follows its token', async () => {
    await expect(run('echo a-token; sleep 0.2; exit 4')).rejects.toThrow('failed with exit code 4');
  });
});

import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/run-program.ts';

const start = (env: NodeJS.ProcessEnv) => runProgram(['examples/fleet.ts'], env);

describe('examples/fleet.ts', () => {
  it('shares a token and its limits among four processes', async () => {
    const { stdout, stderr } = await start({ REDIS_URL: '' });
    expect(stdout.trim().split('\n')).toEqual([
      ...[1, 2, 3, 4].map((at) =>
        expect.stringMatching(new RegExp(`^Process ${at}: 20 reads in \\d+\\.\\d s, then 5 a.* completed\\.$`)),
      ),
      'Tokens issued: 1.',
      expect.stringMatching(/^Successful reads: 80, and \d+ polls for 20 waits\.$/),
      // On a busy machine, requests arrive late and meet those of the next interval. Each of them is repeated.
      expect.stringMatching(/^Refused with 429: \d+\.$/),
    ]);
    // When Redis takes longer than a second to respond, the limiter says so.
    expect(stderr.replaceAll(/^Redis (?:failed, so|responds again:) .*\n/gm, '')).toBe('');
  });
});

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

describe('examples/await-audience.ts', () => {
  it('builds an audience, prints eligibility and budget, and tells of a failed build', async () => {
    const { stdout, stderr } = await run(process.execPath, ['examples/await-audience.ts'], { timeout: 30_000 });
    const lines = stdout.trim().split('\n');
    expect(lines[0]).toMatch(/^Created audience \d+, "Visitors of the last month"\.$/);
    expect(lines.some((line) => /^… Building after \d+\.\d s$/.test(line))).toBe(true);
    expect(lines).toContain('Activation is allowed.');
    expect(lines).toContain('Builds left: 59 this hour, 299 today.');
    expect(lines.at(-1)).toMatch(/^JobNeedsInfoError \(job-needs-info\): Audience \d+ ended at 107 Additional Info/);
    expect(stderr).toBe('');
  }, 40_000);
});

describe('examples/lookalike-to-activation.ts', () => {
  it('goes from a seed by a lookalike to a delivered activation', async () => {
    const { stdout, stderr } = await run(process.execPath, ['examples/lookalike-to-activation.ts'], {
      timeout: 30_000,
    });
    const kept = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('…'));
    expect(kept).toEqual([
      expect.stringMatching(/^Seed \d+ holds \d+ devices\.$/),
      expect.stringMatching(/^Lookalike \d+ holds 250000 devices\.$/),
      expect.stringMatching(/^Activation \d+ delivered devices: http:\/\//),
    ]);
    expect(stderr).toBe('');
  }, 40_000);
});

describe('examples/import-cohort.ts', () => {
  it('uploads a file that it makes, and ends with a cohort of its rows', async () => {
    const { stdout, stderr } = await run(process.execPath, ['examples/import-cohort.ts'], { timeout: 30_000 });
    expect(stdout).toContain('Uploaded; to be claimed before');
    expect(stdout).toMatch(/Cohort \d+ holds 500000 EIDs\./);
    expect(stderr).toBe('');
  }, 40_000);
});

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

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('the build writes a manual page with every command, which roff reads without warnings', () => {
  const page = readFileSync('man/audience-activation.1', 'utf8');
  expect(page).toContain('.SS audiences create [options]');
  const { error, stderr } = spawnSync('groff', ['-man', '-ww', '-Tutf8', '-z'], { input: page, encoding: 'utf8' });
  // Without groff, only the text is read.
  if (!error) expect(stderr).toBe('');
});

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { manPage } from '../../scripts/man-page.ts';

it('the manual page is that of the commands (`npm run docs:man`), and roff reads it without warnings', () => {
  const page = manPage();
  expect(readFileSync('man/audience-activation.1', 'utf8')).toBe(page);
  expect(page).toContain('.SS audiences create [options]');
  const { error, stderr } = spawnSync('groff', ['-man', '-ww', '-Tutf8', '-z'], { input: page, encoding: 'utf8' });
  // Without groff, only the text is compared.
  if (!error) expect(stderr).toBe('');
});

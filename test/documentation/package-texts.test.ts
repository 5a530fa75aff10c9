import { existsSync, readFileSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { relativeLinks, SHIPPED } from '../support/documentation.ts';

describe.each(SHIPPED.filter((file) => file !== 'CHANGELOG.md'))('%s, which the package contains', (file) => {
  const text = readFileSync(file, 'utf8').replaceAll(/<!--.*?-->/gs, '');

  it('sends its reader to no clone of the repository', () => {
    expect(text.match(/\bclone\b|in the repository\b|npm run (?:bench|example|demo|docs|test:)\b/gi) ?? []).toEqual([]);
  });

  it('shows only pictures that the package contains', () => {
    const pictures = relativeLinks(text).filter((target) => target.endsWith('.png'));
    const { files } = JSON.parse(readFileSync('package.json', 'utf8'));
    const paths = pictures.map((target) => posix.join(dirname(file), target));
    expect(paths.filter((path) => !existsSync(path) || !files.includes(dirname(path)))).toEqual([]);
  });
});

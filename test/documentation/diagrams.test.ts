import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';

const SOURCES = globSync('docs/images/*.mmd');
const PAGE = readFileSync('docs/how-it-works.md', 'utf8');

describe('diagrams', () => {
  it.each(SOURCES)('the images of %s were drawn from it: otherwise run `npm run diagrams`', (path) => {
    const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
    for (const suffix of ['', '-dark'])
      expect(readFileSync(path.replace('.mmd', `${suffix}.svg`), 'utf8')).toContain(`sha256 ${digest}`);
  });

  it.each(SOURCES)('how-it-works.md shows %s in light and in dark', (path) => {
    const name = basename(path, '.mmd');
    expect(PAGE).toContain(`srcset="images/${name}-dark.svg"`);
    expect(PAGE).toContain(`src="images/${name}.svg"`);
  });

  it('every image of how-it-works.md has a source and a text for those who do not see it', () => {
    expect(PAGE.match(/<img alt="[^"]{20,}" src="images\/[\w-]+\.svg">/g)).toHaveLength(SOURCES.length);
  });
});

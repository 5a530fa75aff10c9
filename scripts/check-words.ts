import { globSync, readFileSync } from 'node:fs';
import { countTics } from './tics.ts';
import { findWords, type TextFile } from './words.ts';

/**
 * Reports every term that the glossary and the conventions for language replace by a standard one, and counts the tics of
 * the guides, which may become fewer and never more.
 *
 *   npm run check:words
 *   npm run check:words -- "that of"   # also the places of the tics whose name contains this
 */
const FOLDERS = '{src,test,examples,scripts,bench,docs}/**/*.{ts,cts,cjs,sh,html,md}';
const SKIPPED = /^(?:docs\/api|scripts\/(?:words|tics)\.ts|test\/package\/words\.test\.ts)/;
/** Documents that people write and readers of the package read. The changelog only grows. */
const GUIDES = /^(?:README|CONTRIBUTING|SECURITY|docs\/(?!assumptions)[\w-]+)\.md$/;

const files = globSync([FOLDERS, '*.md'])
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => !SKIPPED.test(path))
  .sort()
  .map((path): TextFile => ({ path, text: readFileSync(path, 'utf8') }));
const problems = files.flatMap(findWords);
for (const problem of problems) console.error(problem);
console.log(`${files.length} files, ${problems.length} terms to replace`);

const [listed] = process.argv.slice(2);
const tics = countTics(files.filter(({ path }) => GUIDES.test(path)));
for (const { name, places, rate, bound } of tics) {
  const advice = Math.ceil(rate) < bound ? `, which can fall to ${Math.ceil(rate)}` : '';
  console.log(`${places.length} × ${name}: ${rate.toFixed(1)} per 10,000 words, bound ${bound}${advice}`);
  if (listed !== undefined && name.includes(listed)) console.log(places.map((place) => `  ${place}`).join('\n'));
}
const exceeded = tics.filter(({ rate, bound }) => rate > bound);
for (const { name } of exceeded)
  console.error(
    `The guides have more of ${name} than before. Rewrite such sentences: npm run check:words -- '${name}'`,
  );
process.exitCode = problems.length + exceeded.length > 0 ? 1 : 0;

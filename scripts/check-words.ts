import { globSync, readFileSync } from 'node:fs';
import { findWords } from './words.ts';

/** Reports every term that the glossary and the conventions for language replace by a standard one. */
const FOLDERS = '{src,test,examples,scripts,bench,docs}/**/*.{ts,cts,cjs,sh,html,md}';
const SKIPPED = /^(?:docs\/api|scripts\/words\.ts|test\/package\/words\.test\.ts)/;

const paths = globSync([FOLDERS, '*.md']).map((path) => path.replaceAll('\\', '/'));
const problems = paths
  .filter((path) => !SKIPPED.test(path))
  .sort()
  .flatMap((path) => findWords({ path, text: readFileSync(path, 'utf8') }));
for (const problem of problems) console.error(problem);
console.log(`${paths.length} files, ${problems.length} terms to replace`);
process.exitCode = problems.length > 0 ? 1 : 0;

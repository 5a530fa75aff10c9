import { readFileSync } from 'node:fs';
import { findImportProblems } from './imports.ts';
import { sourceFiles } from './source-files.ts';

const paths = sourceFiles();
const problems = findImportProblems(paths.map((path) => ({ path, text: readFileSync(`src/${path}`, 'utf8') })));
for (const problem of problems) console.error(problem);
console.log(`${paths.length} files, ${problems.length} wrong imports`);
process.exitCode = problems.length > 0 ? 1 : 0;

import { writeFileSync } from 'node:fs';
import { DOCUMENTS } from './documents.ts';
import { run } from './run.ts';

/**
 * Writes the generated documents that are committed.
 *
 *   npm run docs             all of them, and the reports of `npm run api`
 *   npm run docs -- openapi  one of them
 */
const [name] = process.argv.slice(2);
const document = name === undefined ? undefined : DOCUMENTS[name];
if (document) {
  writeFileSync(document.path, await document.text());
} else if (name === undefined) {
  // Use one process for each document: a process that has imported a document does not see its new content.
  for (const [each, { path }] of Object.entries(DOCUMENTS)) {
    console.log(path);
    run(process.execPath, import.meta.filename, each);
  }
  run('npm', 'run', '-s', 'api');
} else {
  console.error(`There is no document "${name}". The documents: ${Object.keys(DOCUMENTS).join(', ')}.`);
  process.exitCode = 1;
}

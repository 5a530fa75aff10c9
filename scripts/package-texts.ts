import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { entries, reportPath } from './api-report.ts';
import { manPage } from './man-page.ts';

/** Writes the texts that the package ships beside `dist`, and that are not committed. */
export function writePackageTexts(): void {
  writeFileSync('llms-api.txt', declarationsText());
  mkdirSync('man', { recursive: true });
  writeFileSync('man/audience-activation.1', manPage());
  writeFileSync('man/aud.1', '.so man1/audience-activation.1\n');
}

/** Returns `llms-api.txt`: the declarations of everything that is exported. */
function declarationsText(): string {
  return [
    '# audience-activation: the declarations',
    '',
    'All exports, without comments and without the bodies of errors. How they are used: the guides that `llms.txt` lists.',
    ...entries.flatMap((entry) => ['', declarationsOf(entry)]),
    '',
  ].join('\n');
}

/** Returns the declarations of an entry point. Not as TypeScript: they name types that are not exported. */
function declarationsOf(entry: string): string {
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(readFileSync(reportPath(entry), 'utf8')) ?? [];
  const specifier = entry === 'index' ? 'audience-activation' : `audience-activation/${entry}`;
  return `## ${specifier}\n\n\`\`\`text\n${code.trim()}\n\`\`\``;
}

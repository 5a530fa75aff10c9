import { mkdirSync, writeFileSync } from 'node:fs';
import { declarationsText, indexText } from './llms.ts';
import { manPage } from './man-page.ts';

/** Writes the texts that the package ships beside `dist`, and that are not committed. */
export function writePackageTexts(): void {
  writeFileSync('llms.txt', indexText());
  writeFileSync('llms-api.txt', declarationsText());
  mkdirSync('man', { recursive: true });
  writeFileSync('man/audience-activation.1', manPage());
  writeFileSync('man/aud.1', '.so man1/audience-activation.1\n');
}

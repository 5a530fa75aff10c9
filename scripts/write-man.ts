import { mkdirSync, writeFileSync } from 'node:fs';
import { manPage } from './man-page.ts';

mkdirSync('man', { recursive: true });
writeFileSync('man/audience-activation.1', manPage());
writeFileSync('man/aud.1', '.so man1/audience-activation.1\n');

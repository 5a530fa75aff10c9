import { writeFileSync } from 'node:fs';
import { fullText, shortText } from './llms.ts';

writeFileSync('llms.txt', shortText());
writeFileSync('llms-full.txt', fullText());

import { writeFileSync } from 'node:fs';
import { declarationsText, guidesText, shortText } from './llms.ts';

writeFileSync('llms.txt', shortText());
writeFileSync('llms-guides.txt', guidesText());
writeFileSync('llms-api.txt', declarationsText());

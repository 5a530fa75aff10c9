import { writeFileSync } from 'node:fs';
import { referencePage } from './reference-page.ts';

writeFileSync('docs/reference.md', referencePage());

import { writeFileSync } from 'node:fs';
import { referencePage } from './reference.ts';

writeFileSync('docs/reference.md', referencePage());

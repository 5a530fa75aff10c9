import { writeFileSync } from 'node:fs';
import { assumptionsPage } from './assumptions.ts';

writeFileSync('docs/assumptions.md', assumptionsPage());

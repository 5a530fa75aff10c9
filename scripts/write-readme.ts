import { writeFileSync } from 'node:fs';
import { readmeText } from './readme.ts';

writeFileSync('README.md', readmeText());

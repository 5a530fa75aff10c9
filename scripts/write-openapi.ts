import { writeFileSync } from 'node:fs';
import { buildDocument, textOf } from './openapi/document.ts';

writeFileSync('src/spec/openapi.json', textOf(await buildDocument()));

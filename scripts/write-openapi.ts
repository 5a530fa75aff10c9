import { writeFileSync } from 'node:fs';
import { buildDocument, textOf } from './openapi/document.ts';

writeFileSync('src/spec/generated/openapi.json', textOf(await buildDocument()));

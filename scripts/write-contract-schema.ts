import { writeFileSync } from 'node:fs';
import { textOfContractSchema } from './contract-schema.ts';

writeFileSync('src/spec/contract.schema.json', textOfContractSchema());

import { writeFileSync } from 'node:fs';
import { textOfContractSchema } from './contract-schema.ts';

writeFileSync('src/spec/generated/contract.schema.json', textOfContractSchema());

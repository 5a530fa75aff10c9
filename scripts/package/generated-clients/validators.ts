/** Validates a document with the validators of Scalar and Seriousme; throws their errors. */
import { readFile } from 'node:fs/promises';
import { validate } from '@scalar/openapi-parser';
import { Validator } from '@seriousme/openapi-schema-validator';

const text = await readFile(String(process.argv[2]), 'utf8');
const results = [await validate(text), await new Validator().validate(JSON.parse(text))];
for (const { valid, errors } of results) if (!valid) throw new Error(JSON.stringify(errors));

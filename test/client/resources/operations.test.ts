import { describe, expect, it } from 'vitest';
import { exchangeExamples } from '../../../scripts/openapi/examples.ts';
import { operationDetails } from '../../../scripts/openapi/operation-details.ts';
import { isOperationName, operations } from '../../../src/spec/operations.ts';

const names = Object.keys(operations).filter(isOperationName);
const details = operationDetails();
const exchanges = await exchangeExamples(details);

describe('every operation of the table', () => {
  it('has a comment with an example that calls it', () => {
    expect(names.filter((name) => !details.has(name) || !exchanges.has(name))).toEqual([]);
  });

  it('every operation that polls is in the bucket that paces the polls', () => {
    const reads = names.filter((name) => /\.(?:get|list)$/.test(name));
    expect(reads.filter((name) => operations[name].bucket !== 'read')).toEqual([]);
  });

  it.each(names)('%s is sent as the table says', (name) => {
    const { method, path, retry, token } = operations[name];
    const { request } = exchanges.get(name) ?? {};
    expect(request?.method).toBe(method);
    const pattern = path.replace('{id}', String.raw`\d+`).replace('{dataset}', 'web').replace('{name}', 'domains');
    expect(new URL(String(request?.url)).pathname).toMatch(new RegExp(`^${pattern}$`));
    expect(request?.headers.has('idempotency-key')).toBe(retry === 'idempotency-key');
    // The sandbox refuses a token of the wrong scope.
    expect(request?.headers.has('authorization')).toBe(token !== 'none');
  });
});

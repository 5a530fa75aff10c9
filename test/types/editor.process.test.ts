import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openEditor } from './language-service.ts';

const HEADER = `import { AudienceClient } from 'audience-activation';
declare const client: AudienceClient;
declare const file: Blob;
`;

const { components } = JSON.parse(readFileSync('src/spec/generated/openapi.json', 'utf8'));

/** Returns the documented fields of a body, as the OpenAPI document shows them, or of an object in it. */
const documented = (name: string, ...path: readonly string[]): string[] => {
  let schema = components.schemas[name];
  for (const field of path) schema = schema.properties[field].items ?? schema.properties[field];
  return Object.keys(schema.properties).sort();
};

/** Fields of an activation that the service refuses; their comments say so. */
const REFUSED = ['partner_id', 'partner_name', 'pricing_model'];

describe('in an editor', () => {
  it('the fields of an activation that the service refuses are struck out', () => {
    const editor = openEditor(`${HEADER}client.activations.create({ /*at*/ });`);
    expect(editor.deprecatedAt('/*at*/').sort()).toEqual(REFUSED);
  });

  it('completions of each body and query are exactly the documented fields', () => {
    const calls: Readonly<Record<string, readonly string[]>> = {
      'audiences.create({ /*at*/ })': documented('AudienceCreate'),
      'audiences.createAndWait({ /*at*/ })': documented('AudienceCreate'),
      'audiences.create({ dataset: [{ /*at*/ }] })': documented('AudienceCreate', 'dataset'),
      'estimates.create({ /*at*/ })': documented('AudienceCreate'),
      'lookalikes.create({ /*at*/ })': documented('LookalikeCreate'),
      'lookalikes.create({ config: { /*at*/ } })': documented('LookalikeCreate', 'config'),
      'activations.create({ /*at*/ })': [...new Set([...documented('ActivationCreate'), ...REFUSED])].sort(),
      'activations.create({ filters: { /*at*/ } })': documented('ActivationCreate', 'filters'),
      'cohorts.create({ /*at*/ })': documented('CohortCreate'),
      'cohorts.import(file, { /*at*/ })': documented('CohortCreate'),
      'projects.create({ /*at*/ })': documented('ProjectCreate'),
      'schedules.create({ /*at*/ })': documented('ScheduleCreate'),
      'uploads.reserve({ /*at*/ })': documented('UploadRequest'),
      'audiences.list({ /*at*/ })': ['page', 'per_page'],
      'projects.list({ /*at*/ })': ['page', 'per_page'],
      "reference.list('web', 'domains', { /*at*/ })": ['page', 'per_page'],
      'usage.get({ /*at*/ })': ['yearmonth'],
    };
    const markers = Object.keys(calls).map((call, index) => `client.${call.replace('/*at*/', `/*${index}*/`)};`);
    const editor = openEditor(`${HEADER}${markers.join('\n')}`);
    const offered = Object.keys(calls).map((call, index) => [call, editor.completionsAt(`/*${index}*/`).sort()]);
    expect(Object.fromEntries(offered)).toEqual(calls);
  });

  it('completions of a response are exactly the documented fields', () => {
    const editor = openEditor(`${HEADER}const audience = await client.audiences.get(42);\naudience./**/;`);
    expect(editor.completionsAt('/**/').sort()).toEqual(documented('Audience'));
  });

  it('the hover text of a method names the types of its body and its result', () => {
    const editor = openEditor(`${HEADER}client.audiences.create({ name: 'x' }); client.audiences.list({ page: 1 });`);
    expect(editor.hoverOf('create(')).toContain(
      'create(body: AudienceCreate, options?: CreateOptions): ApiPromise<Audience>',
    );
    expect(editor.hoverOf('list(')).toContain(
      'list(params?: ListParams, options?: RequestOptions): PagePromise<Audience>',
    );
  });

  it('300 calls are checked without computing types for each', () => {
    const calls = [
      "audiences.create({ name: 'x', dataset: [{ analysis_type: 'WebDomain', start_date: '2026-11-01', end_date: '2026-11-30' }] })",
      "audiences.createAndWait({ name: 'x', filters: { a: 1 } }, { onCreated: ({ id }) => id })",
      'lookalikes.create({ source_audience_id: 1, config: { target_size: 2 } })',
      'activations.create({ audience_id: 1, filters: { freq_min: 1 } })',
      "cohorts.create({ name: 'x', upload_reference: 'x' })",
      'audiences.list({ page: 1, per_page: 10 })',
    ];
    const program = Array.from({ length: 300 }, (_, index) => `client.${calls[index % calls.length]};`);
    const editor = openEditor(`${HEADER}${program.join('\n')}`);
    expect(editor.errors()).toEqual([]);
    expect(editor.instantiations()).toBeLessThan(1_000);
  });

  it('the error for a misspelt field names the right one', () => {
    const source = readFileSync('test/types/package/spelling.ts', 'utf8');
    const misspelt = [...source.matchAll(/\/\/ @ts-expect-error (\w+)(?:, .*)?\n *(.*)/g)];
    const errors = openEditor(source.replaceAll('@ts-expect-error', '')).errors();
    const unnamed = misspelt.flatMap(([, field, code]) => {
      const [error] = errors.filter(({ line }) => line === code);
      return error?.message.includes(`'${field}'`) ? [] : [`${code} ${error?.message}`];
    });
    expect(misspelt).toHaveLength(27);
    // They are errors, too: the compiler finds no name that is similar enough.
    expect(unnamed).toEqual([
      expect.stringMatching(/'project-id': 7.*''project-id'' does not exist in type 'AudienceCreate'/),
      expect.stringMatching(/nmae: 'x'.*'nmae' does not exist in type 'AudienceCreate'/),
      expect.stringMatching(/'per-page': 10.*''per-page'' does not exist in type 'ListParams'/),
    ]);
  });
});

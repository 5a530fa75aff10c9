import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { OpenApiDocument } from '../../src/index.ts';
import { isObject } from '../../src/util/json.ts';

type Fetch = (input: Request | URL | string, init?: RequestInit) => Promise<Response>;

/** Wraps a `fetch`; collects how the requests and successes that pass it differ from a document. */
export function describedBy(
  document: OpenApiDocument,
  fetch: Fetch,
): { readonly fetch: Fetch; readonly problems: string[] } {
  const problems: string[] = [];
  const ajv = new Ajv2020({ strict: false });
  formats.default(ajv);
  ajv.addSchema({ ...document, $id: 'document' });
  const resolved = (parameter: { readonly $ref?: string }): unknown =>
    parameter.$ref
      ?.split('/')
      .slice(1)
      .reduce((at: unknown, key) => Object(at)[key], document) ?? parameter;
  const compiled = new Map<object, ValidateFunction>();
  const check = (what: string, value: unknown, schema: object): void => {
    const validate = compiled.get(schema) ?? ajv.compile(absolute(schema));
    compiled.set(schema, validate);
    if (!validate(value)) problems.push(`${what}: ${ajv.errorsText(validate.errors)}`);
  };
  const described: Fetch = async (input, init) => {
    const request = new Request(input, init);
    const { method, url } = request;
    const { pathname, searchParams } = new URL(url);
    const operation = operationAt(document, method, pathname);
    const response = await fetch(request);
    const name = `${method} ${pathname}`;
    if (!operation) problems.push(`${name} is not described`);
    const { parameters = [], responses = {} } = operation ?? {};
    for (const [param, value] of searchParams) {
      const { schema } = Object(
        Object(parameters)
          .map?.(resolved)
          .find((one: { name: string }) => one.name === param),
      );
      if (schema) check(`${name} ${param}`, /^\d+$/.test(value) ? Number(value) : value, schema);
      else problems.push(`${name} has no parameter ${param}`);
    }
    const { headers = {}, content } = Object(Object(responses)[response.status]);
    const schema: unknown = Object(content)['application/json']?.schema;
    if (isObject(schema)) check(name, await response.clone().json(), schema);
    for (const header of Object.keys(headers))
      if (!response.headers.has(header)) problems.push(`${name} lacks ${header}`);
    return response;
  };
  return { fetch: described, problems };
}

function operationAt({ paths }: OpenApiDocument, method: string, pathname: string) {
  const matching = Object.entries(paths).filter(([path]) =>
    new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  );
  const [, item] = matching.find(([path]) => !path.includes('{')) ?? matching[0] ?? [];
  return item?.[method.toLowerCase()];
}

/** Returns a schema whose references lead into the document. */
const absolute = (schema: object): object =>
  JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"document#'));

import { runInThisContext } from 'node:vm';
import { AudienceClient, type Page } from '../../src/index.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { isOperationName, type OperationName, operations } from '../../src/spec/operations.ts';
import type { JsonObject } from '../../src/spec/wire-values.ts';
import { isObject } from '../../src/util/json.ts';
import type { OperationDetails } from './operation-details.ts';

/** A request of the client and the response of the sandbox. */
export interface Exchange {
  readonly request: Request;
  readonly body?: unknown;
  readonly response: unknown;
}

/**
 * The code of an example. `id` returns the id of the resource that the example of the create request has created or, in
 * a namespace without create requests, the id of the first row in the list.
 */
type Example = (client: AudienceClient, id: (namespace: string) => Promise<unknown>) => Promise<unknown>;

const HOUR = 3_600_000;
const START = Date.UTC(2026, 10, 22, 9);

/** Makes the example call of each operation to a sandbox, whose seed and clock make the responses the same in every run. */
export async function exchangeExamples(
  details: ReadonlyMap<OperationName, OperationDetails>,
): Promise<ReadonlyMap<OperationName, Exchange>> {
  const sandbox = createSandbox({ seed: 1, clock: 'manual', start: START, deliver: async () => new Response() });
  const account = sandbox.accounts.create({ email: 'ada@example.com', password: 'secret' });
  sandbox.webhooks.create({
    account,
    name: 'Production',
    url: 'https://example.com/webhooks',
    events: ['audience.completed'],
  });
  const exchanges = new Map<OperationName, Exchange>();
  let operation = '';
  const client = new AudienceClient({
    baseUrl: 'https://api.example.com',
    token: account.token('api'),
    mcpToken: account.token('mcp'),
    validation: 'strict',
    onRequest: (event) => {
      operation = event.operation;
    },
    fetch: async (url, init) => {
      const request = new Request(url, init);
      const text = await request.clone().text();
      const response = await sandbox.fetch(request.clone());
      if (isOperationName(operation) && !exchanges.has(operation)) {
        const body: unknown = text === '' ? undefined : withoutSecrets(JSON.parse(text));
        exchanges.set(operation, {
          request,
          ...(body !== undefined && { body }),
          response: withoutSecrets(await readJson(response.clone())),
        });
      }
      return response;
    },
  });
  const results = new Map<OperationName, Promise<unknown>>();
  const run = async (name: OperationName): Promise<unknown> => {
    // Jobs have ended when their resources are read.
    if (operations[name].method === 'GET') await sandbox.advance(HOUR);
    const call: Example = runInThisContext(`async (client, id) => ${details.get(name)?.example}`, { filename: name });
    return call(client, idIn);
  };
  const idIn = async (namespace: string): Promise<unknown> => {
    const [create, list] = [`${namespace}.create`, `${namespace}.list`];
    const result = await resultOf(isOperationName(create) ? create : list);
    const resource = isOperationName(create) ? result : (result as Page<unknown>).items[0];
    if (isObject(resource) && resource.id !== undefined) return resource.id;
    throw new Error(
      `The example of ${namespace}.get has no id: there is no ${create}, and ${list} of the sandbox returns no row. Give the account of the sandbox a row, or add an @example with an id to the comment of the operation.`,
    );
  };
  const resultOf = (name: string): Promise<unknown> => {
    if (!isOperationName(name)) throw new Error(`There is no operation ${name}.`);
    const result = results.get(name) ?? run(name);
    results.set(name, result);
    return result;
  };
  for (const name of inOrder(Object.keys(operations))) await resultOf(name);
  await client.close();
  return exchanges;
}

/** Returns the operations in the order of the table, with the delete and revoke operations at the end, in reverse. */
function inOrder(names: readonly string[]): string[] {
  const ends = (name: string): boolean => /\.(?:delete|revoke)/.test(name);
  return [...names.filter((name) => !ends(name)), ...names.filter(ends).reverse()];
}

/** Reads the JSON of a response, or of the first event in a stream. */
async function readJson(response: Response): Promise<unknown> {
  const text = await response.text();
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
}

/** Fields that contain secrets. Even an example must not suggest that these can be published. */
const SECRETS: Readonly<Record<string, string>> = {
  token: '<token>',
  password: '<password>',
  url: 'https://storage.example.com/uploads/presigned',
  uri: 'https://storage.example.com/results/presigned',
  upload_reference: '<reference>',
  reference: '<reference>',
};

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value as JsonObject).map(([name, field]) => {
    const isSecret = name in SECRETS && typeof field === 'string' && !/^$|\/webhooks$/.test(field);
    return [name, isSecret ? SECRETS[name] : withoutSecrets(field)];
  });
  return Object.fromEntries(fields);
}

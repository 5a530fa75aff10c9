import type { DecodeContext, ResourceSchema } from '../../client/index.ts';
import {
  activationResource,
  audienceResource,
  cohortResource,
  decodeList,
  decodeOne,
  projectResource,
  scheduleResource,
  webhookEndpointResource,
} from '../../client/index.ts';
import type { OperationName } from '../../spec/operations.ts';
import type { Findings, Kind } from './findings.ts';

/** Schemas by which the client reads resources, by namespace. */
const SCHEMAS: Readonly<Record<Kind | 'webhooks', ResourceSchema<unknown>>> = {
  audiences: audienceResource,
  activations: activationResource,
  cohorts: cohortResource,
  projects: projectResource,
  schedules: scheduleResource,
  webhooks: webhookEndpointResource,
};

/** Payload of a response, and what it is. */
export interface Payload {
  readonly namespace: keyof typeof SCHEMAS;
  readonly data: unknown;
  readonly verb: 'list' | 'get' | 'create';
}

/** A payload that the client refuses. */
class Refusal extends Error {}

/** Decodes a payload as the client does. Returns the fields with other types, or throws a {@link Refusal}. */
function differingFields({ namespace, data, verb }: Payload): readonly string[] {
  const fields: string[] = [];
  const context = {
    validation: 'lenient',
    fail: (problem: string) => new Refusal(problem.replace('`data` is not as documented: ', '')),
    warn(_: string, field: string, problem: string) {
      const text = problem.replace('. The value is kept as it is', '');
      // Which fields the rows of a list have is not documented, nor what a create returns besides the id.
      if (verb === 'get' || (verb === 'list' && !text.startsWith('is missing'))) fields.push(`\`${field}\` ${text}`);
    },
  } as unknown as DecodeContext; // all of it that the decoders use
  if (verb === 'list') decodeList(SCHEMAS[namespace])(data, context);
  else decodeOne(SCHEMAS[namespace])(data, context);
  return fields;
}

/** Notes how the client reads the payloads that a check has seen, using the client's own decoders. */
export function noteShapes(findings: Findings, payloads: readonly Payload[]): void {
  for (const [namespace, seen] of Map.groupBy(payloads, (payload) => payload.namespace)) {
    const id = `shape:${namespace.replace(/s$/, '')}`;
    const fields = new Set<string>();
    const refusals = new Map<OperationName, string>();
    for (const payload of seen) {
      try {
        for (const field of differingFields(payload)) fields.add(field);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        refusals.set(`${namespace}.${payload.verb}` as OperationName, error.message); // verbs of each namespace
      }
    }
    const [refusal] = refusals.values();
    const names = [...refusals.keys()];
    if (refusal !== undefined) {
      const shown = names.map((name) => `\`${name}\``).join(' and ');
      const evidence = `The client refuses responses of ${shown}: ${refusal}.`;
      const codes = names.map((operation) => ({ operation, members: 'data: (data) => data' }));
      findings.set(id, 'differs', evidence, { breaks: true, codes });
    } else if (fields.size > 0) {
      const evidence = `The client keeps these fields as they are, and their types are wrong: ${[...fields].join(', ')}.`;
      findings.set(id, 'differs', evidence);
    } else if (namespace === 'webhooks' || seen.some(({ verb }) => verb === 'get'))
      findings.set(
        id,
        'confirmed',
        'Rows and single resources have the documented fields, as the client decodes them.',
      );
    else findings.set(id, 'likely', 'Rows are as documented; no resource was read alone.');
  }
}

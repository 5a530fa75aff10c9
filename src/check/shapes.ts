import type { DecodeContext } from '../http/index.ts';
import { activationResource } from '../schemas/activation.ts';
import { audienceResource } from '../schemas/audience.ts';
import { cohortResource } from '../schemas/cohort.ts';
import type { ResourceSchema } from '../schemas/common.ts';
import { decodeList, decodeOne } from '../schemas/decode.ts';
import { projectResource, scheduleResource } from '../schemas/open-resources.ts';
import { webhookEndpointResource } from '../schemas/webhook-endpoint.ts';
import type { OperationName } from '../spec/operations.ts';
import type { Findings, NAMESPACES } from './findings.ts';

/** Schemas by which the client reads resources, by namespace. */
const SCHEMAS: Readonly<Record<(typeof NAMESPACES)[number], ResourceSchema<unknown>>> = {
  audiences: audienceResource,
  activations: activationResource,
  cohorts: cohortResource,
  projects: projectResource,
  schedules: scheduleResource,
  webhooks: webhookEndpointResource,
};

/** A namespace whose resources are decoded. */
export type Decoded = keyof typeof SCHEMAS;

/** Payload of a response, and what it is. */
interface Payload {
  readonly data: unknown;
  readonly from: 'list' | 'get' | 'create';
}

/** Collects how the client reads the payloads that a check has seen, using the client's own decoders. */
export class Shapes {
  readonly #seen = new Map<Decoded, { fields: Set<string>; refusals: Map<string, string>; hasSingle: boolean }>();

  /** Decodes a payload as the client does. */
  add(namespace: Decoded, { data, from }: Payload): void {
    const seen = this.#seen.get(namespace) ?? { fields: new Set(), refusals: new Map(), hasSingle: false };
    this.#seen.set(namespace, { ...seen, hasSingle: seen.hasSingle || from === 'get' });
    const context = {
      validation: 'lenient',
      fail: (problem: string) => new Refusal(problem.replace('`data` is not as documented: ', '')),
      warn(_: string, field: string, problem: string) {
        const text = problem.replace('. The value is kept as it is', '');
        // Which fields the rows of a list have is not documented, nor what a create returns besides the id.
        if (from === 'get' || (from === 'list' && !text.startsWith('is missing')))
          seen.fields.add(`\`${field}\` ${text}`);
      },
    } as unknown as DecodeContext; // all of it that the decoders use
    try {
      if (from === 'list') decodeList(SCHEMAS[namespace])(data, context);
      else decodeOne(SCHEMAS[namespace])(data, context);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      seen.refusals.set(from, error.message);
    }
  }

  /** Notes a finding for each kind of which something was seen. */
  note(findings: Findings): void {
    for (const [namespace, { fields, refusals, hasSingle }] of this.#seen) {
      const id = `shape:${namespace.replace(/s$/, '')}`;
      const differing = [...fields].join(', ');
      const [refusal] = refusals.values();
      if (refusal !== undefined) {
        const names = [...refusals.keys()].map((verb) => `${namespace}.${verb}` as OperationName); // verbs of each namespace
        const evidence = `The client refuses what ${names.map((name) => `\`${name}\``).join(' and ')} returns: ${refusal}.`;
        const codes = names.map((operation) => ({ operation, members: 'data: (data) => data' }));
        findings.set(id, 'differs', evidence, { breaks: true, codes });
      } else if (differing !== '')
        findings.set(
          id,
          'differs',
          `The client keeps these fields as they are, and their types are wrong: ${differing}.`,
        );
      else if (hasSingle || namespace === 'webhooks')
        findings.set(
          id,
          'confirmed',
          'Rows and single resources have the documented fields, as the client decodes them.',
        );
      else findings.set(id, 'likely', 'Rows are as documented; no resource was read alone.');
    }
  }
}

/** A payload that the client refuses. */
class Refusal extends Error {}

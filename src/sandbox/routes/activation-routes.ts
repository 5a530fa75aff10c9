import type { Activation } from '../../spec/activation.ts';
import type { Audience } from '../../spec/audience.ts';
import { formatTimestamp } from '../clock.ts';
import { hashOf } from '../http/idempotency.ts';
import { isObject, type JsonObject } from '../http/request-body.ts';
import type { FieldErrors } from '../http/responses.ts';
import { type JobResult, QUEUED, statusOf } from '../jobs.ts';
import type { Service } from '../service.ts';
import type { AccountRecord, Mutable } from '../state.ts';
import { addResultFile, resultUrl } from '../storage/result-files.ts';
import { creatorOf, findById, incompleteText, missingText, readName, readProject } from './body-fields.ts';
import { eligibilityOf, IDENTIFIERS, isExpired, KEYED_IDENTIFIERS, minDevicesOf } from './eligibility.ts';
import { DATASTREAMS } from './reference-data.ts';
import type { Draft, ResourceType } from './resource-routes.ts';

/** Fields that the body of a create request must not contain (specification, "Rules known for creates", rule 2). */
const FORBIDDEN_FIELDS = ['partner_id', 'partner_name', 'pricing_model'];

/** Returns why an audience cannot be activated (specification, "Rules known for creates", rules 2 and 4). */
function audienceError({ jobs, clock }: Service, audience: Audience, identifier: unknown): string | undefined {
  const now = clock.now();
  if (!jobs.isCompleted('audience', audience.status.id)) return incompleteText('audience', audience);
  const [count, min] = [audience.results_count, minDevicesOf(audience)];
  if (count < min) return `The audience has ${count} unique devices, and needs at least ${min}.`;
  const { allowed, reasons } = eligibilityOf(audience, now);
  if (!allowed) return `The audience is not eligible for activation: ${reasons.map(({ code }) => code).join(', ')}.`;
  const isKeyed = typeof identifier === 'string' && KEYED_IDENTIFIERS.includes(identifier);
  return isKeyed && isExpired(audience, now)
    ? `The audience has expired: ${identifier} cannot be delivered.`
    : undefined;
}

function draftActivation(service: Service, body: JsonObject, account: AccountRecord): Draft<Activation> {
  const { state, clock } = service;
  const errors: FieldErrors = {};
  const description = readName(body, 'description', 'Untitled activation', errors);
  const project = readProject(body, account, errors);
  for (const field of FORBIDDEN_FIELDS)
    if (body[field] !== undefined) errors[field] = [`The ${field} field is prohibited.`];
  const identifier = body.identifier ?? 'EID';
  if (typeof identifier !== 'string' || !IDENTIFIERS.includes(identifier))
    errors.identifier = [`The identifier must be one of ${IDENTIFIERS.join(', ')}.`];
  const streams = readDatastreams(body, errors);
  const audience = findById(account.audiences, body.audience_id);
  const problem = audience ? audienceError(service, audience, identifier) : missingText('audience', body.audience_id);
  if (problem) errors.audience_id = [problem];
  if (!account.deliveryCredentials && (body.credentials ?? '') === '') {
    errors.credentials = ['No credentials are available: supply them or store them on the connection.'];
  }
  if (!audience || typeof identifier !== 'string' || Object.keys(errors).length > 0) return { errors };
  const now = formatTimestamp(clock.now());
  const resource: Mutable<Activation> = {
    id: state.nextId++,
    description,
    status: statusOf(QUEUED),
    audience: { id: audience.id, name: audience.name },
    created_by: creatorOf(account),
    project,
    partner: { name: 'Sandbox Partner', description: 'Receives the deliveries of the sandbox.' },
    pricing_model: { identifier },
    datastreams: streams.map((name) => ({ name, status: 'Pending', results: { uri: '' } })),
    filters: readFrequency(body),
    filter_hash: isObject(body.filters) ? hashOf(new TextEncoder().encode(JSON.stringify(body.filters))) : null,
    created_at: now,
    updated_at: now,
  };
  return { name: description, resource, result: { identifier, rows: audience.results_count } };
}

/** Reads the names of the datastreams, which must exist (assumed). */
function readDatastreams({ datastreams }: JsonObject, errors: FieldErrors): readonly string[] {
  if (datastreams === undefined) return DATASTREAMS.slice(0, 1);
  const names = Array.isArray(datastreams) ? datastreams : [];
  const isValid = names.length > 0 && new Set(names).size === names.length;
  if (isValid && names.every((name) => DATASTREAMS.includes(name))) return names;
  errors.datastreams = [`The datastreams must be a list without duplicates of: ${DATASTREAMS.join(', ')}.`];
  return [];
}

/** Adds the result files of an activation. */
function completeActivation(
  service: Service,
  activation: Mutable<Activation>,
  { identifier = 'EID', rows = 0 }: JobResult,
): void {
  const streams = activation.datastreams.map(({ name }) => name);
  addResultFile(service, activation.id, { streams, identifier, rows });
  activation.datastreams = streams.map((name) => ({ name, status: 'Delivered', results: { uri: '' } }));
}

export function showActivation(service: Service, activation: Activation, storageUrl: string): unknown {
  const datastreams = activation.datastreams.map((stream) => ({
    ...stream,
    results: { uri: resultUrl(service, activation.id, stream.name, storageUrl) },
  }));
  return { ...activation, datastreams };
}

function readFrequency({ filters }: JsonObject): Activation['filters'] {
  const { freq_min, freq_max, freq_limit } = isObject(filters) ? filters : {};
  const bounds = {
    freq_min: typeof freq_min === 'number' ? freq_min : null,
    freq_max: typeof freq_max === 'number' ? freq_max : null,
  };
  const isLimited = bounds.freq_min !== null || bounds.freq_max !== null;
  return { freq_limit: typeof freq_limit === 'boolean' ? freq_limit : isLimited, ...bounds };
}

export const ACTIVATIONS: ResourceType<Activation> = {
  name: 'activations',
  label: 'Activation',
  kind: 'activation',
  resourcesOf: (account) => account.activations,
  draft: draftActivation,
  complete: completeActivation,
  show: showActivation,
};

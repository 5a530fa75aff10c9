import type { Hono } from 'hono';
import type { Activation } from '../../schemas/activation.ts';
import type { Audience } from '../../schemas/audience.ts';
import { wireTime } from '../clock.ts';
import type { Env } from '../http/access.ts';
import { COMPLETED, QUEUED, statusOf } from '../jobs.ts';
import type { Service } from '../service.ts';
import type { AccountRecord, Mutable } from '../state.ts';
import { deliverResult, resultUri } from '../storage/result-files.ts';
import { type Body, creatorOf, type Errors, findById, isBody, readName, readProject } from './body-fields.ts';
import { eligibilityOf, enoughDevices, IDENTIFIERS, isExpired, KEYED_IDENTIFIERS } from './eligibility.ts';
import { createRoute, type Reading, readRoutes } from './resource-routes.ts';

/** Fields that a create may not hold ("Rules known for creates", rule 2). */
const FORBIDDEN = ['partner_id', 'partner_name', 'pricing_model'];

/** What is wrong with activating an audience (rules 2 and 4). */
function audienceError(audience: Audience | undefined, identifier: unknown, now: number): string | undefined {
  if (!audience) return 'The selected audience id is invalid.';
  if (audience.status.id !== COMPLETED) return 'The audience is not completed.';
  if (!enoughDevices(audience)) return 'The audience holds too few unique devices.';
  if (!eligibilityOf(audience, now).allowed) return 'The audience is not eligible for activation.';
  const keyed = typeof identifier === 'string' && KEYED_IDENTIFIERS.includes(identifier);
  return keyed && isExpired(audience, now) ? `The audience is expired: ${identifier} cannot be delivered.` : undefined;
}

function readActivation(service: Service, body: Body, account: AccountRecord): Reading<Activation> {
  const { state, clock } = service;
  const errors: Errors = {};
  const description = readName(body, 'description', 'Untitled activation', errors);
  const project = readProject(body, account, errors);
  for (const field of FORBIDDEN) if (body[field] !== undefined) errors[field] = [`The ${field} field is prohibited.`];
  const identifier = body.identifier ?? 'EID';
  if (typeof identifier !== 'string' || !IDENTIFIERS.includes(identifier))
    errors.identifier = [`The identifier must be one of ${IDENTIFIERS.join(', ')}.`];
  const audience = findById(account.audiences, body.audience_id);
  const problem = audienceError(audience, identifier, clock.now());
  if (problem) errors.audience_id = [problem];
  if (!account.deliveryCredentials && (body.credentials ?? '') === '') {
    errors.credentials = ['No credentials are available: supply them or store them on the connection.'];
  }
  if (!audience || typeof identifier !== 'string' || Object.keys(errors).length > 0) return { errors };
  const resource: Mutable<Activation> = {
    id: state.nextId++,
    description,
    status: statusOf(QUEUED),
    audience: { id: audience.id, name: audience.name },
    created_by: creatorOf(account),
    project,
    partner: { name: 'Sandbox Partner', description: 'Takes deliveries of the sandbox.' },
    pricing_model: { identifier },
    datastreams: [{ name: 'devices', status: 'Pending', results: { uri: '' } }],
    filters: readFrequency(body),
    filter_hash: null,
    created_at: wireTime(clock.now()),
    updated_at: wireTime(clock.now()),
  };
  const completed = (): void => {
    deliverResult(service, resource.id, identifier, audience.results_count);
    resource.datastreams = [{ name: 'devices', status: 'Delivered', results: { uri: '' } }];
  };
  return { name: description, resource, completed };
}

/** How often a device may be shown something, as the body's `filters` say. */
function readFrequency({ filters }: Body): Activation['filters'] {
  const { freq_min, freq_max, freq_limit } = isBody(filters) ? filters : {};
  const bounds = {
    freq_min: typeof freq_min === 'number' ? freq_min : null,
    freq_max: typeof freq_max === 'number' ? freq_max : null,
  };
  const limited = bounds.freq_min !== null || bounds.freq_max !== null;
  return { freq_limit: typeof freq_limit === 'boolean' ? freq_limit : limited, ...bounds };
}

/** Activations. */
export function activationRoutes(app: Hono<Env>, service: Service): void {
  const activations = {
    name: 'activations',
    label: 'Activation',
    kind: 'activation',
    of: (account: AccountRecord) => account.activations,
    read: (body: Body, account: AccountRecord) => readActivation(service, body, account),
    wire: (activation: Activation, storage: string): Activation => {
      const uri = resultUri(service, activation.id, storage);
      return { ...activation, datastreams: activation.datastreams.map((one) => ({ ...one, results: { uri } })) };
    },
  } as const;
  readRoutes(app, service, activations);
  createRoute(app, service, activations);
}

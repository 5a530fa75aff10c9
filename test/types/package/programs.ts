/** Compiled against the built package, in every supported TypeScript: programs as users write them, without an error. */
import {
  type Activation,
  type ActivationCreate,
  type AnalysisType,
  type Audience,
  AudienceClient,
  type AudienceCreate,
  AudienceError,
  apiToken,
  type ClientOptions,
  type Cohort,
  type CreateOptions,
  type DatasetCreate,
  type IdLike,
  JobFailedError,
  type ListParams,
  type LookalikeCreate,
  memoryTokenStore,
  type RequestOptions,
  ValidationError,
  type WaitOptions,
} from 'audience-activation';
import { createWebhookReceiver, type WebhookEvent } from 'audience-activation/webhooks';
import * as z from 'zod';

declare const client: AudienceClient;
const { audiences, lookalikes, activations, cohorts, projects, schedules, estimates, reference, usage } = client;

// Values whose types are inferred, widened, or declared elsewhere.

export function literal() {
  return audiences.create({
    name: 'Visitors',
    dataset: [{ analysis_type: 'WebDomain', start_date: '2026-11-01', end_date: '2026-11-30' }],
  });
}

export function inferredConstant() {
  const body = {
    name: 'Visitors',
    dataset: [{ analysis_type: 'WebDomain', start_date: '2026-11-01', end_date: '2026-11-30' }],
  };
  return audiences.create(body);
}

export function constAssertion() {
  const body = {
    name: 'Visitors',
    dataset: [{ analysis_type: 'AffinityTransactions', start_date: '2026-11-01', end_date: '2026-11-30' }],
  } as const;
  return audiences.createAndWait(body);
}

export function satisfied() {
  const body = { name: 'Visitors', project_id: null } satisfies AudienceCreate;
  return audiences.create({ ...body, name: body.name.toUpperCase() });
}

export function annotated() {
  const body: AudienceCreate = { name: 'Visitors' };
  return audiences.create(body);
}

export function ownInterface(row: { name: string; project_id: number; owner: string }) {
  return audiences.create(row);
}

interface Campaign {
  id: string;
  name: string;
  segments: DatasetCreate[];
}
export function mapped(campaigns: Campaign[]) {
  return Promise.all(campaigns.map(({ name, segments }) => audiences.create({ name, dataset: segments })));
}

export function readonlyArrays(dataset: readonly DatasetCreate[]) {
  return audiences.create({ name: 'Visitors', dataset });
}

export class Definition implements AudienceCreate {
  readonly name: string;
  readonly dataset: DatasetCreate[] = [];
  constructor(name: string) {
    this.name = name;
  }
  add(analysis_type: AnalysisType): this {
    this.dataset.push({ analysis_type, start_date: '2026-11-01', end_date: '2026-11-30' });
    return this;
  }
}
export function instance() {
  return audiences.create(new Definition('Visitors').add('WebDomain').add('SomethingNew'));
}

export interface TaggedCreate extends AudienceCreate {
  tag: string;
}
export function extended({ tag, ...body }: TaggedCreate) {
  return audiences.create({ ...body, name: `${body.name} ${tag}` });
}

export function intersection(body: AudienceCreate & { region: string }) {
  return audiences.create(body);
}

// Unions, enums, brands and generics.

export function union(body: { name: string } | { name: string; project_id: number }) {
  return audiences.create(body);
}

type Job = { kind: 'audience'; body: AudienceCreate } | { kind: 'lookalike'; body: LookalikeCreate };
export function discriminated(job: Job): Promise<Audience> {
  return job.kind === 'audience' ? audiences.createAndWait(job.body) : lookalikes.createAndWait(job.body);
}

enum Kind {
  Web = 'WebDomain',
  Affinity = 'AffinityTransactions',
}
export function enumerated(kind: Kind) {
  const dates = { start_date: '2026-11-01', end_date: '2026-11-30' };
  const dataset = [
    { analysis_type: kind, ...dates },
    { analysis_type: Kind.Affinity, ...dates },
  ];
  return audiences.create({ name: 'Visitors', dataset });
}

type AudienceId = number & { readonly __brand: 'AudienceId' };
export async function branded(id: AudienceId) {
  await audiences.get(id);
  await activations.create({ audience_id: id });
  return audiences.wait(id);
}

export const branding = async (): Promise<AudienceId> => (await audiences.create({ name: 'x' })).id as AudienceId;

export function generic<Body extends AudienceCreate>(body: Body) {
  return audiences.create(body);
}

export function partial(changes: Partial<AudienceCreate>) {
  return audiences.create({ name: 'Visitors', ...changes });
}

export function picked(body: Pick<AudienceCreate, 'name' | 'project_id'>, rest: Omit<AudienceCreate, 'name'>) {
  return audiences.create({ ...rest, ...body });
}

export function required({ name }: Required<AudienceCreate>): string {
  return name;
}

// Input from elsewhere.

const Input = z.object({
  name: z.string(),
  project_id: z.number().nullable().optional(),
  dataset: z.array(
    z.object({
      analysis_type: z.enum(['WebDomain', 'AffinityTransactions']),
      start_date: z.string(),
      end_date: z.string(),
    }),
  ),
});
export function zodInferred(input: unknown) {
  return audiences.create(Input.parse(input));
}

export function zodExtended(input: unknown) {
  const { campaign, ...body } = Input.extend({ campaign: z.string() }).parse(input);
  return audiences.create(body, { idempotencyKey: campaign });
}

export function untyped(text: string) {
  return audiences.create(JSON.parse(text));
}

export function conditional(projectId: number | undefined, isTest: boolean) {
  return audiences.create({
    name: isTest ? 'Test' : 'Visitors',
    ...(projectId !== undefined && { project_id: projectId }),
    ...(isTest ? { filters: { sample: true } } : {}),
  });
}

export function undefinedFields(name: string, projectId?: number) {
  return audiences.create({ name, project_id: projectId });
}

export function mutable() {
  const body: { -readonly [K in keyof ActivationCreate]: ActivationCreate[K] } = { audience_id: 42 };
  body.description = 'Delivery';
  body.identifier = 'MAID';
  return activations.create(body);
}

export function unspecified(plan: Record<string, unknown>) {
  return Promise.all([
    projects.create({ name: 'x', color: 'red' }),
    schedules.create(plan),
    projects.create({ name: 'A' }),
  ]);
}

// Wrappers, and libraries that pass types on.

export class Repository {
  readonly #client: AudienceClient;
  constructor(options: ClientOptions) {
    this.#client = new AudienceClient({ ...options, appInfo: { name: 'repository' } });
  }
  create(body: AudienceCreate, options?: CreateOptions) {
    return this.#client.audiences.create(body, { ...options, maxRetries: 2 });
  }
  find(id: number, options: RequestOptions = {}): Promise<Audience> {
    return this.#client.audiences.get(id, options);
  }
  all(params?: ListParams): AsyncIterable<Audience> {
    return this.#client.audiences.list(params);
  }
}

export type { Activation as Delivery, AudienceCreate as NewAudience } from 'audience-activation';
export { AudienceClient as Client, AudienceError as ServiceError } from 'audience-activation';

type Body = Parameters<typeof audiences.create>[0];
type Result = Awaited<ReturnType<typeof audiences.create>>;
export const derived = (body: Body): Promise<Result> => audiences.create(body);

/** The methods that a program of the user needs. */
export interface AudiencePort {
  create(body: AudienceCreate): Promise<Audience>;
  wait(id: number): Promise<Audience>;
}
export const port: AudiencePort = client.audiences;

export const fake = (audience: Audience): AudiencePort => ({
  create: async () => audience,
  wait: async (id) => ({ ...audience, id }),
});

export const retrying =
  <Input, Output>(call: (input: Input) => Promise<Output>) =>
  (input: Input): Promise<Output> =>
    call(input).catch(() => call(input));
export const createTwice = retrying((body: AudienceCreate) => audiences.create(body));

export function waitOptions(target: IdLike, options?: WaitOptions<Audience>) {
  return audiences.wait(target, { timeout: 1_000, ...options });
}

// Responses, errors and events.

export async function fields(id: number) {
  const { name, status, eligibility, dataset, project } = await audiences.get(id);
  const types = new Set(dataset.map(({ analysis_type }) => analysis_type));
  return { name, done: status.id === 104, ...eligibility.metrics, types, project: project?.name };
}

export async function collected(): Promise<Map<number, Cohort>> {
  const byId = new Map<number, Cohort>();
  for await (const cohort of cohorts.list()) byId.set(cohort.id, cohort);
  return byId;
}

export async function several(ids: number[]): Promise<Activation[]> {
  const settled = await Promise.allSettled(ids.map((id) => activations.wait(id)));
  return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}

export function describe(error: unknown): string {
  if (ValidationError.isInstance(error)) return Object.keys(error.errors).join();
  if (JobFailedError.isInstance(error)) return `${error.kind} ${error.id}`;
  return AudienceError.isInstance(error) ? error.code : String(error);
}

export function caught(error: unknown): never {
  if (error instanceof ValidationError && error.local) throw new Error('not sent', { cause: error });
  throw error;
}

export function store(save: (event: WebhookEvent) => Promise<void>) {
  return createWebhookReceiver({
    secrets: ['a', 'b'],
    on: { 'audience.completed': async ({ data }) => console.log(data.is_activation_allowed, data.name) },
    otherwise: save,
  });
}

export async function counts() {
  const { build_budget, ...counted } = await usage.get({ yearmonth: '2026-10' });
  const rows = await reference.list('web', 'domains').toArray({ limit: 10 });
  const estimate = await estimates.createAndWait({
    name: 'x',
    dataset: [{ analysis_type: 'WebDomain', start_date: '2026-11-01', end_date: '2026-11-30' }],
  });
  return [build_budget.hour.limit - build_budget.hour.used, counted.audiences, rows[0]?.name, estimate.size];
}

export async function ownToken(email: string, password: string) {
  const own = new AudienceClient({ token: apiToken({ email, password }, { store: memoryTokenStore() }) });
  return own.audiences
    .list({ per_page: 10 })
    .then(({ items }) => items.length)
    .finally(() => own.close());
}

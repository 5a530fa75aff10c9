/** Compiled against the built package: fields that are not documented are refused, misspelt ones with the right name. */

import type {
  ActivationCreate,
  AudienceClient,
  AudienceCreate,
  CohortCreate,
  DatasetCreate,
  LookalikeConfig,
  LookalikeCreate,
} from 'audience-activation';

export function misspeltBodies(client: AudienceClient, file: Blob, first: DatasetCreate): void {
  const { audiences, lookalikes, estimates, activations, cohorts, uploads } = client;
  // @ts-expect-error project_id
  audiences.create({ name: 'x', projectId: 7 });
  // @ts-expect-error project_id
  audiences.create({ name: 'x', 'project-id': 7 });
  // @ts-expect-error name
  audiences.create({ nmae: 'x' });
  // @ts-expect-error name
  audiences.createAndWait({ names: 'x' });
  // @ts-expect-error filters
  estimates.create({ fitlers: { web: [1] } });
  // @ts-expect-error start_date
  audiences.create({ name: 'x', dataset: [{ startDate: '2026-11-01' }] });
  // @ts-expect-error end_date, in the second element
  audiences.create({ name: 'x', dataset: [first, { enddate: '2026-11-01' }] });
  // @ts-expect-error analysis_type
  estimates.createAndWait({ name: 'x', dataset: [{ analysisType: 'WebDomain' }] });
  // @ts-expect-error target_size
  lookalikes.create({ config: { targetSize: 5_000 } });
  // @ts-expect-error source_audience_id
  lookalikes.createAndWait({ source_audiences_id: 7 });
  // @ts-expect-error audience_id
  activations.create({ audienceId: 7 });
  // @ts-expect-error freq_min
  activations.create({ audience_id: 7, filters: { freqMin: 2 } });
  // @ts-expect-error freq_limit
  activations.createAndWait({ audience_id: 7, filters: { freq_limt: true } });
  // @ts-expect-error upload_reference
  cohorts.create({ uploadReference: 'x' });
  // @ts-expect-error project_id
  cohorts.import(file, { projectId: 7 });
  // @ts-expect-error size
  uploads.reserve({ kind: 'cohort', size: 9, Size: 9 });
}

export function misspeltQueries(client: AudienceClient): void {
  // @ts-expect-error per_page
  client.audiences.list({ perPage: 10 });
  // @ts-expect-error per_page
  client.reference.list('web', 'domains', { 'per-page': 10 });
  // @ts-expect-error page
  client.projects.list({ pages: 2 });
  // @ts-expect-error yearmonth
  client.usage.get({ yearMonth: '2026-10' });
}

/** Typed before they are passed: by an interface of the package, by a value of type `any`. */
export function misspeltTypes(client: AudienceClient): void {
  // @ts-expect-error project_id
  client.audiences.create({ projectId: JSON.parse('7') });
  // @ts-expect-error project_id
  const audience: AudienceCreate = { projectId: 7 };
  // @ts-expect-error start_date
  const dataset: DatasetCreate = { startDate: '2026-11-01' };
  // @ts-expect-error target_size
  const config: LookalikeConfig = { targetSize: 7 };
  // @ts-expect-error source_audience_id
  const lookalike: LookalikeCreate = { sourceAudienceId: 7 };
  // @ts-expect-error audience_id
  const activation: ActivationCreate = { audienceId: 7 };
  // @ts-expect-error upload_reference
  const cohort: CohortCreate = { uploadReference: 'x' };
  console.log(audience, dataset, config, lookalike, activation, cohort);
}

/** Fields that are not documented: the error names no other field. */
export function unknownFields(client: AudienceClient): void {
  const { audiences, lookalikes, activations, cohorts, projects, schedules } = client;
  // @ts-expect-error not documented
  audiences.create({ title: 'x' });
  // @ts-expect-error not documented
  audiences.create({ name: 'x', dataset: [{ domains: ['a.example'] }] });
  // @ts-expect-error not documented
  lookalikes.create({ config: { expansion: true } });
  // @ts-expect-error not documented
  activations.create({ connection_id: 1 });
  // @ts-expect-error not documented
  cohorts.create({ delimiter: ';' });
  // @ts-expect-error not documented
  audiences.list({ age: 30 });
  // Nothing is specified of these.
  projects.create({ name: 'x', description: 'x', color: 'red' });
  schedules.create({ cron: '* * * * *', interval_hours: 24, audience_id: 1, timezone: 'UTC' });
}

/** A time limit that could be meant for the wait or for a request. */
export function timeouts(client: AudienceClient, file: Blob): void {
  client.audiences.create({ name: 'x' }, { timeout: 1_000 });
  client.audiences.createAndWait({ name: 'x' }, { wait: { timeout: 1_000 }, request: { timeout: 1_000 } });
  client.cohorts.import(file, { name: 'x' }, { wait: { timeout: 1_000 }, request: { timeout: 1_000 } });
  // @ts-expect-error of the wait, or of the request?
  client.audiences.createAndWait({ name: 'x' }, { timeout: 1_000 });
  const options = { timeout: 1_000, idempotencyKey: 'x' };
  // @ts-expect-error of the wait, or of the request?
  client.audiences.createAndWait({ name: 'x' }, options);
  // @ts-expect-error of the wait, or of the request?
  client.cohorts.import(file, { name: 'x' }, { timeout: 1_000 });
}

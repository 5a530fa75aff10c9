/** Compiled against the built package: fields that the specification does not show, as a user declares them. */
import type {
  Activation,
  Audience,
  AudienceClient,
  AudienceCreate,
  Cohort,
  ListParams,
  UploadRequest,
} from 'audience-activation';
import { createWebhookReceiver } from 'audience-activation/webhooks';

declare module 'audience-activation' {
  interface AudienceCreate {
    my_field?: string;
  }
  interface Audience {
    my_result?: number;
  }
  interface DatasetCreate {
    my_domains?: readonly string[];
  }
  interface Eligibility {
    my_score?: number;
  }
  interface Activation {
    my_delivery?: string;
  }
  interface Cohort {
    my_rows?: number;
  }
  interface CohortCreate {
    my_delimiter?: string;
  }
  interface LookalikeConfig {
    my_seed?: number;
  }
  interface ListParams {
    my_search?: string;
  }
  interface UploadRequest {
    my_checksum?: string;
  }
  interface OptionalFields {
    'estimates.create': 'name';
    'lookalikes.create': 'source_audience_id' | 'config';
  }
}

export async function declaredOnce(client: AudienceClient, file: Blob): Promise<void> {
  const dates = { start_date: '2026-11-01', end_date: '2026-11-30' };
  const dataset = [{ analysis_type: 'WebDomain', ...dates, my_domains: ['a.example'] }];
  const body: AudienceCreate = { name: 'x', my_field: 'x', dataset };
  const created: Audience = await client.audiences.create(body);
  await client.audiences.createAndWait(
    { name: 'x', my_field: 'x' },
    { onCreated: ({ my_result }) => my_result?.toFixed() },
  );
  const { my_result, eligibility } = await client.audiences.get(created.id);
  const score: number | undefined = eligibility.my_score ?? my_result;
  const params: ListParams = { my_search: 'x' };
  for await (const audience of client.audiences.list(params)) audience.my_result?.toFixed();
  const [row] = (await client.audiences.list({ my_search: 'x' })).items;
  const waited = await client.audiences.wait(42, { onUpdate: (audience) => audience.my_result?.toFixed() });
  const resumed = await client.waits.wait<'audience'>({ kind: 'audience', id: 42 });
  for await (const audience of client.audiences.watch(42)) audience.my_result?.toFixed();
  await client.lookalikes.create({ source_audience_id: 42, config: { target_size: 9, my_seed: 1 } });
  // Fields that this service does not require.
  await client.estimates.create({ dataset });
  await client.estimates.createAndWait({ name: 'x', dataset });
  await client.lookalikes.create({ name: 'x' });
  const cohort: Cohort = await client.cohorts.import(file, { my_delimiter: ';' });
  const upload: UploadRequest = { kind: 'cohort', size: 9, my_checksum: 'x' };
  await client.uploads.reserve(upload);
  const activation: Activation = await client.activations.get(7);
  console.log(score, row?.my_result, waited.my_result, resumed.my_result, cohort.my_rows, activation.my_delivery);
  createWebhookReceiver({
    secrets: 'x',
    on: {
      'audience.completed': ({ data }) => data.my_result?.toFixed(),
      'cohort.completed': ({ data }) => data.my_rows?.toFixed(),
      'activation.failed': ({ data }) => data.my_delivery?.trim(),
    },
  });
}

/** The declared fields are typed, and all others are errors as before. */
export async function misspelt(client: AudienceClient): Promise<void> {
  // @ts-expect-error a string
  client.audiences.create({ name: 'x', my_field: 7 });
  // @ts-expect-error my_field
  client.audiences.create({ my_feld: 'x' });
  const audience = await client.audiences.get(42);
  // @ts-expect-error is_lookalike
  console.log(audience.is_lookalke);
  // @ts-expect-error my_result
  console.log(audience.my_reslt);
  // @ts-expect-error unique_eids
  console.log(audience.eligibility.metrics.unique_eid);
}

/** Fields of one call, and of one response. */
export async function undeclared(client: AudienceClient, file: Blob): Promise<void> {
  await client.audiences.create({ name: 'x' }, { extraBody: { another_field: { nested: [1] } } });
  await client.audiences.createAndWait({ name: 'x' }, { extraBody: { another_field: 'x' } });
  await client.cohorts.import(file, { name: 'x' }, { extraBody: { another_field: 'x' } });
  await client.uploads.reserve({ kind: 'cohort', size: 9 }, { extraBody: { another_field: 'x' } });
  await client.uploads.upload({ kind: 'cohort', data: file, fields: { another_field: 'x' } });
  await client.audiences.list({}, { query: { another_field: 'x', many: [1, 2] } });
  const audience = await client.audiences.get(42);
  console.log((audience as Audience & { another_result?: number }).another_result);
}

import type { KnownEventType } from '../../webhooks/index.ts';

/** Event types of the service (specification, "Events"). */
export const EVENT_TYPES = [
  'audience.completed',
  'audience.failed',
  'activation.completed',
  'activation.failed',
  'cohort.completed',
  'cohort.failed',
  'webhook.test',
] as const satisfies readonly KnownEventType[];

/** Returns a past time in the format of resources, `Y-m-d H:i:s`. */
const timestamp = (minutesAgo: number): string =>
  new Date(Date.now() - minutesAgo * 60_000).toISOString().slice(0, 19).replace('T', ' ');

const creator = { name: 'Ann Example', email: 'ann@example.com' };
const COMPLETED = { id: 104, name: 'Completed' };
const FAILED = { id: 107, name: 'Additional Info' };

const times = () => ({ created_at: timestamp(10), updated_at: timestamp(0) });

function audience(hasCompleted: boolean): object {
  const count = hasCompleted ? 48_200 : 0;
  return {
    id: 42,
    name: 'Visitors',
    status: hasCompleted ? COMPLETED : FAILED,
    is_cohort: false,
    is_lookalike: false,
    results_count: count,
    is_activation_allowed: hasCompleted ? 1 : false,
    eligibility: {
      allowed: hasCompleted,
      reasons: [],
      notices: [],
      metrics: { unique_eids: count, unique_scids: null, eid_scid_ratio: null, is_affinity: false },
    },
    source_audience: null,
    created_by: creator,
    project: null,
    operator: null,
    dataset: [
      { analysis_type: 'WebDomain', start_date: timestamp(43_200).slice(0, 10), end_date: timestamp(0).slice(0, 10) },
    ],
    ...times(),
  };
}

function activation(hasCompleted: boolean): object {
  const uri = hasCompleted ? 'https://storage.example.com/results/77' : '';
  return {
    id: 77,
    description: 'Visitors, weekly',
    status: hasCompleted ? COMPLETED : FAILED,
    audience: { id: 42, name: 'Visitors' },
    created_by: creator,
    project: null,
    partner: { name: 'Example Partner', description: 'Delivery partner' },
    pricing_model: {},
    datastreams: [{ name: 'Visitors', status: hasCompleted ? 'completed' : 'failed', results: { uri } }],
    filters: { freq_limit: false, freq_min: null, freq_max: null },
    filter_hash: null,
    ...times(),
  };
}

const cohort = (hasCompleted: boolean): object => ({
  id: 7,
  name: 'Customers',
  status: hasCompleted ? { id: 4, name: 'Completed' } : { id: 5, name: 'Not Available' },
  total_eids: hasCompleted ? 12_345 : 0,
  project: null,
  source: 'upload',
  source_audience: null,
  ...times(),
});

/** Returns example data for an event of a type. */
export function sampleData(type: KnownEventType): object {
  const hasCompleted = type.endsWith('.completed');
  if (type.startsWith('audience.')) return audience(hasCompleted);
  if (type.startsWith('activation.')) return activation(hasCompleted);
  if (type.startsWith('cohort.')) return cohort(hasCompleted);
  return { message: 'This is a test event.', endpoint_id: 1 };
}

import { describe, expect, it } from 'vitest';
import type { Settings } from '../../../src/client/http/request-options.ts';
import { Job, type JobSource, type JobUpdate } from '../../../src/client/polling/job.ts';
import { type JobResource, progressOf } from '../../../src/spec/job-status.ts';

const source: JobSource<JobResource> = {
  kind: 'audience',
  read: async (id) => audience(id, 102),
  decode: () => undefined,
  progressOf: (resource) => progressOf('audience', resource),
  invalidId: (problem) => new Error(problem),
  settings: {} as Settings, // a job does not use them
};

const audience = (id: number, status: number, updated?: string): JobResource & { updated_at?: string } => ({
  id,
  status: { id: status, name: `S${status}` },
  ...(updated !== undefined && { updated_at: updated }),
});

/** Creates a job, and collects the status ids that its subscriber receives. */
function startJob() {
  const seen: number[] = [];
  const job = new Job(1, source);
  job.subscribers.add({
    onUpdate: ({ resource }: JobUpdate<JobResource>) => void seen.push(resource.status.id),
    onFailure: () => {},
  });
  return { job, seen };
}

describe('a job', () => {
  it('ignores a running state of a poll that began before the state it knows', () => {
    const { job, seen } = startJob();
    job.update(audience(1, 103), { source: 'webhook', startedAt: 200 });
    expect(job.update(audience(1, 102), { source: 'poll', startedAt: 100 })).toBe(false);
    expect(seen).toEqual([103]);
    expect(job.last?.resource.status.id).toBe(103);
  });

  it('takes its end from a poll in any order', () => {
    const { job, seen } = startJob();
    job.update(audience(1, 103), { source: 'webhook', startedAt: 200 });
    expect(job.update(audience(1, 104), { source: 'poll', startedAt: 100 })).toBe(true);
    expect(seen).toEqual([103, 104]);
  });
});

import { proxyActivities } from '@temporalio/workflow';
import type { startAudience, waitForAudience } from './activities.ts';

const { startAudience: start } = proxyActivities<{ startAudience: typeof startAudience }>({
  startToCloseTimeout: '5 minutes',
  // The idempotency key of the create counts for 24 hours.
  scheduleToCloseTimeout: '23 hours',
});
const { waitForAudience: wait } = proxyActivities<{ waitForAudience: typeof waitForAudience }>({
  startToCloseTimeout: '7 days',
  // The activity of a killed worker is run again after this time. Temporal delivers cancellation with heartbeats.
  heartbeatTimeout: '30 seconds',
  // A build that has failed is not waited for again.
  retry: { nonRetryableErrorTypes: ['JobFailedError', 'JobNeedsInfoError'] },
});

/** Builds an audience, and returns the number of its devices. */
export async function buildAudience(name: string): Promise<number> {
  return wait(await start(name));
}

import type { RateLimits } from 'audience-activation';
import type { Queue } from 'pg-boss';

/** Task of a worker. */
export interface PgBossTask {
  readonly baseUrl: string;
  readonly token: string;
  readonly databaseUrl: string;
  readonly queue: string;
  readonly limits: Readonly<Partial<RateLimits>>;
}

/** Data of a job. */
export interface BuildData {
  readonly name: string;
}

/** Options of a queue of builds. */
export const QUEUE_OPTIONS = {
  // A job is run again when its worker has sent no heartbeat for so long. By default, only when the job expires.
  heartbeatSeconds: 10,
  // More than the longest build. By default 15 minutes: then the job is run again although its worker is waiting.
  expireInSeconds: 12 * 3_600,
  // Kills and failures that a job survives. By default 2.
  retryLimit: 100,
  retryBackoff: true,
  retryDelayMax: 60,
} as const satisfies Omit<Queue, 'name'>;

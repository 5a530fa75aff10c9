/** Activities of Temporal that build an audience, to pass to `Worker.create`. The workflow is `workflow.ts`. */
import { Context } from '@temporalio/activity';
import { AudienceClient } from 'audience-activation';

/** Less than half of the workflow's `heartbeatTimeout`. Milliseconds. */
const HEARTBEAT_MS = 10_000;

// One client for all activities of the process, so that their waits share their polls.
const client = new AudienceClient(); // reads AUDIENCE_BASE_URL and AUDIENCE_TOKEN

/** Starts a build. Temporal saves the id that it returns. */
export async function startAudience(name: string): Promise<number> {
  const { info, cancellationSignal } = Context.current();
  // The same in each attempt of the activity: if a killed worker has sent this create, the service repeats its response.
  const idempotencyKey = `audience-build-${info.workflowExecution?.workflowId}`;
  const { id } = await client.audiences.create({ name }, { idempotencyKey, signal: cancellationSignal });
  return id;
}

/** Waits for a build. */
export async function waitForAudience(id: number): Promise<number> {
  const { cancellationSignal, heartbeat } = Context.current();
  // An interval shows that the process is alive. Updates of the audience do not come at regular times.
  const timer = setInterval(heartbeat, HEARTBEAT_MS);
  try {
    const audience = await client.audiences.wait(id, { signal: cancellationSignal, timeout: Number.POSITIVE_INFINITY });
    return audience.results_count;
  } finally {
    clearInterval(timer);
  }
}

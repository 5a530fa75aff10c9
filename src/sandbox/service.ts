import { Clock } from './clock.ts';
import { Faults } from './faults.ts';
import { Jobs, type JobTask, type RunningJob } from './jobs.ts';
import { createRandom, type Random } from './random.ts';
import { checkOptions, type SandboxOptions } from './sandbox-options.ts';
import { type SandboxLimits, SERVICE_LIMITS } from './service-limits.ts';
import { appendBounded, createState, type LogEntry, type ReplayTask, type State } from './state.ts';
import { type DeliveryTask, WebhookSender } from './webhook-deliveries.ts';

/** Something that happens at a time of the sandbox's clock. Plain data: the state can be saved with its tasks. */
export type Task =
  | JobTask
  | ReplayTask
  | DeliveryTask
  | { readonly type: 'upload-cleanup'; readonly reference: string };

/** The reactions of a service to a task that is due, and to the end of a job. */
export interface Effects {
  runTask(service: Service, task: Task): void;
  endJob(service: Service, job: RunningJob, succeeded: boolean): void;
}

/** The parts of a sandbox that its routes use. */
export interface Service {
  readonly state: State;
  readonly clock: Clock<Task>;
  readonly random: Random;
  readonly limits: SandboxLimits;
  readonly jobs: Jobs;
  readonly webhooks: WebhookSender;
  readonly faults: Faults;
  /** Hosts other than loopback that OAuth clients may redirect to. */
  readonly redirectHosts: readonly string[];
  /** Adds a request to the log. */
  readonly logRequest: (entry: LogEntry) => void;
  /** Aborted when the sandbox is closed. */
  readonly closed: AbortController;
}

/** Creates a service without accounts. */
export function createService(options: SandboxOptions, { runTask, endJob }: Effects): Service {
  checkOptions(options);
  const { seed = 1, clock: mode = 'real', start = Date.now(), jobs = {}, onRequest, onDelivery } = options;
  const clock = new Clock<Task>(mode, Number(start), (task) => runTask(service, task));
  const overrides = Object.entries(options.limits ?? {}).filter(([, limit]) => limit !== undefined);
  const limits: SandboxLimits = { ...SERVICE_LIMITS, ...Object.fromEntries(overrides) };
  const state = createState(options.origin);
  const service: Service = {
    state,
    clock,
    random: createRandom(seed),
    limits,
    jobs: new Jobs(clock, jobs, (job, succeeded) => endJob(service, job, succeeded)),
    webhooks: new WebhookSender({
      clock,
      // Each part has its own generator, so that another event or fault does not change the tokens that follow.
      random: createRandom(~seed),
      signingTime: options.signatureClock === 'machine' ? Date.now : () => clock.now(),
      send: options.deliver ?? ((request) => fetch(request)),
      timeout: limits.deliveryTimeout,
      logLength: limits.logLength,
      onDelivery: (delivery) => notify(onDelivery, delivery),
    }),
    faults: new Faults(createRandom(seed + 2 ** 31), options.faults ?? []),
    redirectHosts: options.redirectHosts ?? [],
    logRequest(entry) {
      state.requestCount++;
      appendBounded(state.log, entry, limits.logLength);
      notify(onRequest, entry);
    },
    closed: new AbortController(),
  };
  return service;
}

/** Calls a callback of the user. An error it throws is reported as uncaught and does not fail the request. */
function notify<T>(callback: ((value: T) => void) | undefined, value: T): void {
  try {
    callback?.(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

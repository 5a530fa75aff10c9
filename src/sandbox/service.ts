import type { ServiceContract } from '../spec/contract.ts';
import { Clock } from './clock.ts';
import { localTimesIn, type Operations, operationsOf } from './contracted-service.ts';
import { Faults } from './faults.ts';
import { type JobChange, Jobs, type JobTask, type RunningJob } from './jobs.ts';
import { createRandom, type Random } from './random.ts';
import { checkLimits, checkOptions, type SandboxOptions } from './sandbox-options.ts';
import { type SandboxLimits, SERVICE_LIMITS } from './service-limits.ts';
import { Sessions } from './sessions.ts';
import {
  appendBounded,
  createState,
  type FileStats,
  type LogEntry,
  type Mutable,
  type ReplayTask,
  type State,
} from './state.ts';
import { type DeliveryAttempt, type DeliveryTask, WebhookSender } from './webhook-deliveries.ts';

/** A task that runs at a time of the sandbox's clock. Tasks are plain data, so they can be saved with the state. */
export type Task =
  | JobTask
  | ReplayTask
  | DeliveryTask
  | { readonly type: 'upload-cleanup'; readonly reference: string };

/** Functions that the service calls when a task is due, and when a job ends. */
export interface Effects {
  runTask(service: Service, task: Task): void;
  endJob(service: Service, job: RunningJob, succeeded: boolean): void;
}

/** A point in the history of a sandbox. */
export interface Moment {
  /** Time of the sandbox's clock. */
  readonly time: number;
  /** Number of moments before this moment. */
  readonly order: number;
}

/** A request, with details that the log omits. */
export interface HandledRequest {
  readonly entry: LogEntry;
  /** URL with the server's own address, regardless of the request's `Host`. */
  readonly url: string;
  readonly headers: Headers;
  readonly address: string;
  /** The body, if a route has read it, or if it is short and the sandbox has an observer. */
  readonly body: Uint8Array<ArrayBuffer> | undefined;
  /** The body of the response, if its type is JSON and the sandbox has an observer. Not set if a fault cut the body. */
  readonly response: string | undefined;
  /** Headers of the response. Not set without a response, or if a fault cut it in the middle of its body. */
  readonly responseHeaders: Headers | undefined;
  /** The received file, without its bytes. */
  readonly file: FileStats | undefined;
  /** Start of the request. */
  readonly started: Moment;
  /** Duration of the request in milliseconds of the machine's clock. */
  readonly duration: number;
  /** `true` if the client disconnected before the end. */
  readonly isDisconnected: boolean;
  /** `false` for a request that an MCP tool makes. */
  readonly isRoot: boolean;
}

/** A call of one of the sandbox's own methods. */
export interface AdminCall {
  /** Expression of the method, such as `sandbox.jobs.finish`. */
  readonly method: string;
  readonly args: readonly unknown[];
  readonly started: Moment;
}

export interface Observer {
  readonly onRequest?: (handled: HandledRequest) => void;
  readonly onDelivery?: (attempt: DeliveryAttempt) => void;
  /** Called before a task runs. */
  readonly onTask?: (task: Task) => void;
  readonly onJob?: (change: JobChange) => void;
  readonly onCall?: (call: AdminCall) => void;
  readonly onChange?: () => void;
}

/** The parts of a sandbox that routes use. */
export interface Service {
  /** Differences between the service and the package's assumptions. */
  readonly contract: ServiceContract | undefined;
  /** Method and path of each operation. */
  readonly operations: Operations;
  /** Converts the timestamps in a value to the time zone of the service. */
  readonly localTimes: (value: unknown) => unknown;
  readonly state: State;
  readonly clock: Clock<Task>;
  readonly random: Random;
  /** The current limits; `setLimits` changes them. */
  readonly limits: Mutable<SandboxLimits>;
  readonly jobs: Jobs;
  readonly webhooks: WebhookSender;
  readonly faults: Faults;
  /** Browser sessions of the console and the consent page. */
  readonly sessions: Sessions;
  /** Approved hosts, other than loopback, for redirect URIs of OAuth clients. */
  readonly redirectHosts: readonly string[];
  readonly logRequest: (entry: LogEntry, handled: HandledRequest) => void;
  readonly observers: Set<Observer>;
  readonly moment: () => Moment;
  /** Reports a successful call of one of the sandbox's methods. */
  readonly called: (call: AdminCall) => void;
  /** Aborted when the sandbox is closed. */
  readonly closed: AbortController;
}

export function createService(options: SandboxOptions, { runTask, endJob }: Effects): Service {
  checkOptions(options);
  const { seed = 1, clock: mode = 'real', start = Date.now(), jobs = {} } = options;
  const { onRequest, onDelivery, onChange, contract } = options;
  const operations = operationsOf(contract);
  const observers = new Set<Observer>();
  let moments = 0;
  const changed = (): void => {
    notify(onChange, undefined);
    for (const observer of observers) observer.onChange?.();
  };
  const clock = new Clock<Task>(mode, new Date(start).getTime(), (task) => {
    for (const observer of observers) observer.onTask?.(task);
    runTask(service, task);
    changed();
  });
  const limits: Mutable<SandboxLimits> = { ...SERVICE_LIMITS, ...checkLimits(options.limits ?? {}) };
  const state = createState(options.origin);
  const service: Service = {
    contract,
    operations,
    localTimes: localTimesIn(contract?.serverTimeZone),
    state,
    clock,
    random: createRandom(seed),
    limits,
    jobs: new Jobs(clock, jobs, contract?.statuses ?? {}, {
      onChange(change) {
        for (const observer of observers) observer.onJob?.(change);
      },
      onEnd: (job, succeeded) => endJob(service, job, succeeded),
    }),
    webhooks: new WebhookSender({
      clock,
      // Events and faults have their own generators, so that an additional event or fault does not change later tokens.
      random: createRandom(~seed),
      signingTime: options.signatureClock === 'machine' ? Date.now : () => clock.now(),
      send: options.deliver ?? ((request) => fetch(request)),
      limits,
      onDelivery: (delivery, attempt) => {
        notify(onDelivery, delivery);
        for (const observer of observers) observer.onDelivery?.(attempt);
        changed();
      },
    }),
    faults: new Faults(createRandom(seed + 2 ** 31), options.faults ?? [], operations),
    sessions: new Sessions('session'),
    redirectHosts: options.redirectHosts ?? [],
    observers,
    moment: () => ({ time: clock.now(), order: moments++ }),
    called(call) {
      for (const observer of observers) observer.onCall?.(call);
      changed();
    },
    logRequest(entry, handled) {
      state.requestCount++;
      appendBounded(state.log, entry, limits.logLength);
      notify(onRequest, entry);
      for (const observer of observers) observer.onRequest?.(handled);
      changed();
    },
    closed: new AbortController(),
  };
  return service;
}

/** Calls a callback of the user. If it throws, reports an uncaught error, and the request continues. */
function notify<T>(callback: ((value: T) => void) | undefined, value: T): void {
  try {
    callback?.(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

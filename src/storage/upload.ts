import { AudienceError, withDetails } from '../errors/audience-error.ts';
import type { SlotState } from '../errors/error-details.ts';
import { watch } from '../http/hooks.ts';
import { AttemptFailure } from '../http/response-errors.ts';
import type { Failure } from '../http/retry-policy.ts';
import { redirectFailure, statusFailure, type TransferFacts } from './storage-errors.ts';
import { putFile, RedirectRefusal, SourceFailure, type StorageAnswer } from './storage-request.ts';
import {
  announce,
  type StorageContext,
  startIdle,
  type Transfer,
  type TransferOptions,
  transferFailure,
  waitToRepeat,
} from './transfer.ts';
import { sourceError, type UploadSource } from './upload-source.ts';

/** How far an upload is. Bytes. */
export interface UploadProgress {
  /** Never goes back; equals `total` only once storage has the file. */
  readonly loaded: number;
  readonly total: number;
}

/** Options of an upload. */
export interface UploadOptions extends TransferOptions {
  /** Called as the upload moves. One that throws is logged and harms no upload. */
  readonly onProgress?: ((progress: UploadProgress) => void) | undefined;
  /** Bytes; needed for a stream, otherwise known. @default the size that the slot was reserved for */
  readonly size?: number | undefined;
  /** Headers that the presigned URL was signed for, such as `Content-Type`. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** An upload to be made. */
export interface UploadPlan {
  readonly context: StorageContext;
  readonly url: string;
  readonly source: UploadSource;
  readonly options: UploadOptions;
  /** Milliseconds that the slot still takes a file. */
  readonly slotLeft: () => number;
}

/** Sends a file to its slot, again where that makes sense. Errors say what can be done with the slot. */
export async function runUpload(plan: UploadPlan): Promise<void> {
  const { context, source, options, slotLeft } = plan;
  const url = new URL(plan.url);
  const scope = context.state.open({ parent: options.signal });
  let attempts = 0;
  const facts = (): TransferFacts => ({ operation: 'uploads.send', method: 'PUT', url, attempts });
  const transfer: Transfer = { context, options, signal: scope.signal, timeLeft: slotLeft, facts };
  const progress = createProgress(plan);
  try {
    for (let retries = 0; ; retries++) {
      scope.signal.throwIfAborted();
      attempts++;
      try {
        await sendOnce(plan, transfer, progress.moved);
        progress.stored();
        return;
      } catch (error) {
        if (!source.readable || !(await waitToRepeat(error, retries, transfer))) throw error;
      }
    }
  } catch (error) {
    throw finalError(error, scope.signal, slotLeft());
  } finally {
    scope.dispose();
    await source.close(scope.signal.reason);
  }
}

async function sendOnce(plan: UploadPlan, transfer: Transfer, moved: (bytes: number) => void): Promise<void> {
  const { source, options, context } = plan;
  const { redactor } = context.settings;
  const { headers = {} } = options;
  const idle = startIdle(transfer);
  const answered = announce(transfer);
  const onBytes = (bytes: number): void => {
    idle.touch();
    moved(bytes);
  };
  let answer: StorageAnswer;
  try {
    answer = await putFile({ url: plan.url, headers, source, signal: idle.signal, onBytes }, context.settings);
  } catch (error) {
    transfer.signal.throwIfAborted();
    if (error instanceof SourceFailure) throw sourceError(error.cause, redactor);
    if (error instanceof RedirectRefusal) throw redirectFailure(transfer.facts());
    throw transferFailure(error, idle, transfer);
  } finally {
    idle.dispose();
  }
  answered(answer.status);
  if (answer.status < 200 || answer.status > 299) throw statusFailure(answer, transfer.facts(), redactor);
}

/** Progress that never goes back, over all attempts; the end is told when storage has the file. */
function createProgress({ source, options, context }: UploadPlan): { moved(bytes: number): void; stored(): void } {
  const total = source.size;
  let told = 0;
  const report = (loaded: number): void => {
    told = loaded;
    watch(context.settings, () => options.onProgress?.({ loaded, total }));
  };
  return {
    moved(bytes) {
      if (bytes > told && bytes < total) report(bytes);
    },
    stored: () => report(total),
  };
}

const ADVICE: Readonly<Record<SlotState, string>> = {
  usable: 'Uploading again is safe; the slot can still be used.',
  unusable: 'The slot cannot be used any more: reserve another and upload again.',
  unknown: 'Whether the slot can still be used is not known: reserve another and upload again.',
};

function finalError(thrown: unknown, signal: AbortSignal, slotLeft: number): unknown {
  const cause = signal.aborted ? signal.reason : thrown;
  const error = cause instanceof AttemptFailure ? cause.error : cause;
  if (!AudienceError.isInstance(error)) return error;
  const slot = slotAfter(cause, slotLeft);
  // What is wrong with the data says by itself what to do.
  return withDetails(error, { slot }, cause instanceof AttemptFailure ? ADVICE[slot] : '');
}

/** Answers that tell of an expired, used or unknown slot. */
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404, 410]);
const PASSING: ReadonlySet<number> = new Set([408, 429]);

function slotAfter(thrown: unknown, slotLeft: number): SlotState {
  if (slotLeft <= 0) return 'unusable';
  return thrown instanceof AttemptFailure ? slotAfterFailure(thrown.failure) : 'usable';
}

function slotAfterFailure(failure: Failure): SlotState {
  if (failure.kind === 'final') return 'unknown';
  if (failure.kind !== 'status' || failure.status >= 500 || PASSING.has(failure.status)) return 'usable';
  return REFUSALS.has(failure.status) ? 'unusable' : 'unknown';
}

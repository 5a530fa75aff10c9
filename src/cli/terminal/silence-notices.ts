import { DEFAULTS } from '../../client/index.ts';
import { type ClientOptions, type RequestEvent, TimeoutError } from '../../index.ts';
import type { GlobalFlags } from './context.ts';
import type { Output } from './output.ts';

/** Milliseconds without a response before the notice. */
const SILENCE_MS = 5_000;

/** Returns hooks that report once that the service does not respond. */
export function silenceNotices({ requestTimeout = DEFAULTS.timeout, deadline }: GlobalFlags, output: Output) {
  const timers = new Map<string, NodeJS.Timeout>();
  const stop = ({ callId }: RequestEvent): void => {
    clearTimeout(timers.get(callId));
    timers.delete(callId);
  };
  let isReported = false;
  const report = (baseUrl: string): void => {
    if (isReported) return;
    isReported = true;
    const entire =
      deadline === undefined
        ? '. --deadline limits the entire command'
        : `, and the command after ${deadline / 1_000} s`;
    const message = `${baseUrl} has not responded for ${SILENCE_MS / 1_000} s. The command keeps waiting. An attempt ends after ${requestTimeout / 1_000} s (--request-timeout)${entire}.`;
    output.log('info', message);
  };
  return {
    onRequest({ callId, baseUrl, bucket }) {
      // Transfers, which have no bucket, already show their progress.
      if (bucket === undefined || timers.has(callId)) return;
      timers.set(callId, setTimeout(() => report(baseUrl), SILENCE_MS).unref());
    },
    onResponse: stop,
    onRetry(event) {
      // Only a timeout continues the silence. After any other error, the service has responded or the connection
      // failed.
      if (!TimeoutError.isInstance(event.error)) stop(event);
    },
    onEnd: stop,
  } as const satisfies ClientOptions;
}

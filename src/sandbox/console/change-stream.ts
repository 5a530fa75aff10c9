import { unref } from '../clock.ts';
import type { Observer, Service } from '../service.ts';

/** Minimum and maximum time between two events, in milliseconds. */
const MIN_INTERVAL_MS = 250;
const MAX_INTERVAL_MS = 5_000;

/**
 * Returns a stream of server-sent events: one after each change, at most four per second, and at least one every
 * five seconds, because the times on a page change. When the session of its reader ends, the stream sends `ended` and ends.
 */
export function changeStream({ observers, closed }: Service, signal: AbortSignal, isAllowed: () => boolean): Response {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let sentAt = performance.now();
  let isChanged = false;
  let send = (): void => {};
  const sendIn = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => send(), ms);
    unref(timer);
  };
  const observer: Observer = {
    onChange() {
      if (!isChanged) sendIn(Math.max(0, sentAt + MIN_INTERVAL_MS - performance.now()));
      isChanged = true;
    },
  };
  const release = (): void => {
    observers.delete(observer);
    clearTimeout(timer);
  };
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const write = (text: string): void => controller.enqueue(new TextEncoder().encode(text));
    // A cancelled stream is already closed, and closing it again would throw.
    const end = (last = ''): void => {
      if (!observers.has(observer)) return;
      release();
      if (last !== '') write(last);
      controller.close();
    };
    send = () => {
      if (!isAllowed()) return end('event: ended\ndata:\n\n');
      // One unread message is enough for all changes.
      if ((controller.desiredSize ?? 0) > 0) write('event: change\ndata:\n\n');
      sentAt = performance.now();
      isChanged = false;
      sendIn(MAX_INTERVAL_MS);
    };
    observers.add(observer);
    // Send a comment, so that the server sends the response headers.
    write(':\n\n');
    AbortSignal.any([signal, closed.signal]).addEventListener('abort', () => end());
    sendIn(MAX_INTERVAL_MS);
  };
  const body = new ReadableStream<Uint8Array>({ start, cancel: release });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

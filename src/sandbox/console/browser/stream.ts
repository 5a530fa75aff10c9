import { isEnded } from './banners.ts';
import { find } from './dom.ts';
import { refresh } from './live.ts';

/** Milliseconds after which a stream is opened again that the browser does not open again itself. */
const RETRY_MS = 3_000;

let events: EventSource | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;
let isStale = false;
let isUpdating = false;

/** Updates the page; changes that come meanwhile are shown by one update more. */
async function update(): Promise<void> {
  isStale = true;
  if (isUpdating) return;
  isUpdating = true;
  while (isStale) {
    isStale = false;
    await refresh();
  }
  isUpdating = false;
  if (isEnded()) events?.close();
}

/** Finds out why a stream has ended: the sandbox does not respond, the session has ended, or neither. */
async function recover(): Promise<void> {
  await update();
  // A browser does not retry a stream that was refused.
  if (events?.readyState !== EventSource.CLOSED || isEnded()) return;
  clearTimeout(timer);
  timer = setTimeout(listen, RETRY_MS);
}

/** Follows the changes. Browsers open six connections to an origin: only visible pages have a stream. */
function listen(): void {
  events?.close();
  events = undefined;
  clearTimeout(timer);
  if (document.hidden || isEnded()) return;
  const opened = new EventSource('/events');
  events = opened;
  // Load the changes between the page and its stream.
  opened.addEventListener('open', () => void update());
  opened.addEventListener('change', () => void update());
  opened.addEventListener('error', () => void recover());
  opened.addEventListener('ended', () => {
    opened.close();
    void recover();
  });
}

/** Keeps the page up to date while it is visible. */
export function follow(): void {
  if (!find('[data-live]')) return;
  document.addEventListener('visibilitychange', listen);
  listen();
}

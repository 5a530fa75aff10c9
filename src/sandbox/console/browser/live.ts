import { find } from './dom.ts';
import { isEnded, showCurrent, showEnded, showLost } from './notices.ts';

function isBusy(part: Element): boolean {
  const { activeElement } = document;
  const isTyping = activeElement?.matches('input, select, textarea') && part.contains(activeElement);
  const selection = document.getSelection();
  const isSelected = selection?.isCollapsed === false && part.contains(selection.anchorNode);
  return Boolean(
    isTyping || isSelected || find('form.changed, form.sending, :active, dialog[open], :popover-open', part),
  );
}

const labelOf = (element: Element): string | null =>
  element.getAttribute('href') ?? element.getAttribute('aria-label') ?? element.textContent;

function replace(part: HTMLElement, other: HTMLElement): void {
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const scrolling = (): Element[] => [...part.querySelectorAll('.tall')];
  const scrolled = scrolling().map(({ scrollTop }) => scrollTop);
  part.replaceChildren(...other.childNodes);
  scrolling().forEach((element, index) => {
    element.scrollTop = scrolled[index] ?? 0;
  });
  if (!focused) return;
  const candidates = [...part.querySelectorAll<HTMLElement>('a, button, h1, h2')];
  const same = candidates.find((candidate) => labelOf(candidate) === labelOf(focused));
  // If the focused element is gone, Tab continues from its part, not from the top of the page.
  if (!same) part.tabIndex = -1;
  (same ?? part).focus({ preventScroll: !same });
}

function show(fresh: Document): void {
  for (const part of document.querySelectorAll<HTMLElement>('[data-live]')) {
    const other = fresh.getElementById(part.id);
    if (!other) continue;
    const isList = part.dataset.live === 'list';
    const isHeld = isBusy(part) || (isList && find('a:focus', part) !== null);
    if (!isHeld && other.innerHTML !== part.innerHTML) replace(part, other);
    // After a tap, the button stays pressed for a moment: update its part soon.
    if (find(':active', part)) setTimeout(update, 300);
  }
}

export async function refresh(): Promise<void> {
  const response = await fetch(location.href).catch(() => undefined);
  const text = await response?.text().catch(() => undefined);
  if (!response || text === undefined) return showLost();
  if (response.status === 401) return showEnded();
  showCurrent();
  if (response.ok) show(new DOMParser().parseFromString(text, 'text/html'));
}

/** Milliseconds after which the script reopens a stream that the browser does not reopen. */
const RETRY_MS = 3_000;

let isStale = false;
let isUpdating = false;

/** Updates the page while it is visible. Another update shows the changes that arrive meanwhile. */
async function update(): Promise<void> {
  isStale = true;
  if (isUpdating || document.hidden || isEnded()) return;
  isUpdating = true;
  while (isStale) {
    isStale = false;
    await refresh();
  }
  isUpdating = false;
}

/** Follows the changes until the session has ended; `report` tells the other pages of the browser. */
function listen(report: () => void): Promise<void> {
  return new Promise((resolve) => {
    const open = (): void => {
      const events = new EventSource('/events');
      const endIfEnded = (): void => {
        if (!isEnded()) return;
        events.close();
        resolve();
      };
      for (const name of ['open', 'change'])
        events.addEventListener(name, () => {
          report();
          void update().then(endIfEnded);
        });
      const onEnd = async (): Promise<void> => {
        report();
        // A hidden page must also learn why its stream has ended.
        await refresh();
        endIfEnded();
        // Browsers do not retry a refused stream.
        if (events.readyState === EventSource.CLOSED && !isEnded()) setTimeout(open, RETRY_MS);
      };
      events.addEventListener('error', () => void onEnd());
      events.addEventListener('ended', () => {
        events.close();
        void onEnd();
      });
    };
    open();
  });
}

/**
 * Keeps the page up to date. A browser opens at most six HTTP/1.1 connections to an origin, so only one page has the
 * stream, and reports to the others.
 */
export function follow(): void {
  if (!find('[data-live]')) return;
  const channel = new BroadcastChannel('changes');
  channel.addEventListener('message', () => void update());
  document.addEventListener('visibilitychange', () => void update());
  const report = (): void => channel.postMessage('');
  // Over HTTP, only pages on loopback have Web Locks.
  if (navigator.locks) void navigator.locks.request('stream', () => listen(report));
  else void listen(report);
}

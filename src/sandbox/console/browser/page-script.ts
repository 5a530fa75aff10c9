import { momentText } from '../words.ts';
import { addDialogs } from './dialogs.ts';
import { closest, find, make } from './dom.ts';
import { follow } from './live.ts';
import { addNotices, closeNotice } from './notices.ts';
import { addForms } from './send-forms.ts';

addNotices();
addCopy();
addDialogs();
addKeys();
runClocks();
addForms();
follow();

/** Makes buttons with `data-copy` (the id of an element) or `data-text` copy, and confirm this for two seconds, also to screen readers. */
function addCopy(): void {
  const said = make('p', '', 'sr');
  said.setAttribute('role', 'status');
  document.body.append(said);
  document.addEventListener('click', async ({ target }) => {
    const pressed = closest(target, '[data-copy], [data-text]');
    if (!pressed) return;
    const { text, copy = '' } = pressed.dataset;
    const value = text ?? document.getElementById(copy)?.textContent ?? '';
    // Over HTTP, only pages on loopback have `clipboard`.
    const isCopied = await navigator.clipboard?.writeText(value.trim()).then(
      () => true,
      () => false,
    );
    const label = find('[data-label]', pressed) ?? pressed;
    label.dataset.before ??= label.textContent ?? '';
    label.textContent = isCopied ? 'Copied' : 'Not copied';
    said.textContent = isCopied ? 'Copied.' : 'The browser did not allow the page to copy.';
    setTimeout(() => {
      label.textContent = label.dataset.before ?? '';
    }, 2_000);
  });
}

function addKeys(): void {
  // After a link or a search, Tab continues in the content: at its heading if the focus was visible before.
  if (document.referrer.startsWith(location.origin) && location.hash === '')
    find(sessionStorage.getItem('focus') === 'visible' ? 'h1' : 'main')?.focus({ preventScroll: true });
  addEventListener('pagehide', () => sessionStorage.setItem('focus', find(':focus-visible') ? 'visible' : ''));
  const search = find<HTMLInputElement>('.find input');
  // A phone has no Ctrl key.
  if (search && !matchMedia('(pointer: coarse)').matches) search.placeholder = 'Find (Ctrl K)';
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !find('dialog[open]')) closeNotice();
    if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || !search) return;
    event.preventDefault();
    if (search.getClientRects().length === 0) find('#nav')?.showPopover();
    search.focus();
  });
}

/** Advances the clocks of a page between two updates, from the time at which they were added. */
function runClocks(): void {
  const shownAt = new WeakMap<Element, number>();
  const tick = (): void => {
    for (const clock of document.querySelectorAll<HTMLElement>('time[data-now]')) {
      const at = shownAt.get(clock) ?? performance.now();
      shownAt.set(clock, at);
      const { now, speed } = clock.dataset;
      clock.textContent = momentText(Number(now) + (performance.now() - at) * Number(speed));
    }
  };
  tick();
  setInterval(tick, 1_000);
}

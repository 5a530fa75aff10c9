import { showCurrent, showEnded, showLost } from './banners.ts';
import { closest, find, makeButton } from './dom.ts';
import { fillToken } from './first-steps.ts';

let isPaused = false;

/** Returns whether somebody is typing, clicking or selecting in a part. */
function isBusy(part: Element): boolean {
  const { activeElement } = document;
  const isTyping = activeElement?.matches('input, select, textarea') && part.contains(activeElement);
  const selection = document.getSelection();
  const isSelected = selection?.isCollapsed === false && part.contains(selection.anchorNode);
  return Boolean(isTyping || isSelected || find('form.changed, form.sending, :active, dialog[open]', part));
}

const labelOf = (element: Element): string | null =>
  element.getAttribute('href') ?? element.getAttribute('aria-label') ?? element.textContent;

/** Carries over to another part what the reader has opened and chosen. */
function keepChoices(part: HTMLElement, other: HTMLElement): void {
  for (const details of part.querySelectorAll('details[id]'))
    find(`#${CSS.escape(details.id)}`, other)?.toggleAttribute('open', details.hasAttribute('open'));
  for (const radio of part.querySelectorAll<HTMLInputElement>('input[type=radio]:checked')) {
    const same = find<HTMLInputElement>(`input[name="${radio.name}"][value="${radio.value}"]`, other);
    if (same) same.checked = true;
  }
}

/** Replaces the content of a part, but keeps focus, scroll position and open elements. */
function replace(part: HTMLElement, other: HTMLElement): void {
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  keepChoices(part, other);
  const scrolling = (): Element[] => [...part.querySelectorAll('.tall, .panel > .card')];
  const scrolled = scrolling().map(({ scrollTop }) => scrollTop);
  part.replaceChildren(...other.childNodes);
  Object.assign(part.dataset, other.dataset);
  scrolling().forEach((element, index) => {
    element.scrollTop = scrolled[index] ?? 0;
  });
  if (!focused) return;
  const candidates = [...part.querySelectorAll<HTMLElement>('a, button, summary')];
  const same = candidates.find((candidate) => labelOf(candidate) === labelOf(focused));
  // What had the focus is gone: Tab continues from its part, not from the top of the page.
  if (!same) part.tabIndex = -1;
  (same ?? part).focus({ preventScroll: !same });
}

/** Offers the rows that have come to a list while it stands still. */
function offer(list: HTMLElement, other: HTMLElement, isHeld: boolean): void {
  find('#fresh')?.remove();
  const state = find('.live');
  state?.classList.toggle('paused', isHeld);
  if (state) state.textContent = isHeld ? 'Paused' : 'Live';
  const number = Number(other.dataset.total) - Number(list.dataset.total);
  if (!isHeld || number <= 0) return;
  const show = makeButton(`${number} new: show ${number === 1 ? 'it' : 'them'}`, 'small', () => {
    const query = new URLSearchParams(location.search);
    if (query.has('before')) {
      query.delete('before');
      location.search = String(query);
    } else {
      replace(list, other);
      show.remove();
    }
  });
  show.id = 'fresh';
  list.before(show);
}

/** Replaces the parts that have changed, except those that somebody uses, and a list that stands still. */
function show(fresh: Document, isOwn: boolean): void {
  fillToken(fresh);
  const isStill = !isOwn && (isPaused || /[?&]before=./.test(location.search));
  for (const part of document.querySelectorAll<HTMLElement>('[data-live]')) {
    const other = fresh.getElementById(part.id);
    if (!other) continue;
    const isList = part.dataset.total !== undefined;
    const isHeld = isBusy(part) || (isList && (isStill || find('.row:focus', part) !== null));
    if (isList) offer(part, other, isHeld);
    if (!isHeld && other.innerHTML !== part.innerHTML) replace(part, other);
  }
}

/**
 * Shows what has changed, or why it cannot be shown. The list of a page stands still while it is paused, does not begin with the newest
 * row, or a row has the focus; not for what the reader has done.
 */
export async function refresh(isOwn = false): Promise<void> {
  const response = await fetch(find('main')?.dataset.source ?? location.href).catch(() => undefined);
  const text = await response?.text().catch(() => undefined);
  if (!response || text === undefined) return showLost();
  const fresh = new DOMParser().parseFromString(text, 'text/html');
  if (response.status === 401) return showEnded();
  showCurrent();
  if (response.ok) show(fresh, isOwn);
}

/** Lets a button pause the list of its page. */
export function addLists(): void {
  document.addEventListener('click', ({ target }) => {
    const button = closest(target, '[data-pause]');
    if (!button) return;
    isPaused = !isPaused;
    button.setAttribute('aria-pressed', String(isPaused));
    void refresh();
  });
}

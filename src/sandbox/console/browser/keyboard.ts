import { find } from './dom.ts';
import { closeNotice } from './notices.ts';

function openSearch(event: KeyboardEvent): void {
  const search = find<HTMLInputElement>('.find input');
  if (!search) return;
  event.preventDefault();
  if (search.getClientRects().length === 0) find('#nav')?.showPopover();
  search.focus();
}

function stepRows(event: KeyboardEvent): void {
  const { activeElement } = document;
  const row = activeElement?.closest('tr');
  // Single keys work only while a list has the focus.
  if (!row || activeElement?.matches('input, select')) return;
  const rows = [...(row.closest('table')?.querySelectorAll('tr:has(.row)') ?? [])];
  const next = rows[rows.indexOf(row) + (event.key === 'ArrowDown' ? 1 : -1)];
  if (!next) return;
  event.preventDefault();
  find('.row', next)?.focus();
}

/** Adds the keys that work on every page. */
export function addKeys(): void {
  // After a link or a search of the console, Tab continues in the content.
  if (document.referrer.startsWith(location.origin) && location.hash === '')
    find('main')?.focus({ preventScroll: true });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && !find('dialog[open]')) closeNotice();
    else if (event.key === 'k' && (event.ctrlKey || event.metaKey)) openSearch(event);
    else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') stepRows(event);
  });
}

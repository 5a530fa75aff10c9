import { closest, find, make } from './dom.ts';

/** Milliseconds for which a button says that it has copied. */
const SHOWN_MS = 2_000;

/** Lets buttons with `data-copy` (the id of an element) or `data-text` copy; they say so, also to screen readers. */
export function addCopy(): void {
  const said = make('p', '', 'sr');
  said.setAttribute('role', 'status');
  document.body.append(said);
  document.addEventListener('click', async ({ target }) => {
    const pressed = closest(target, '[data-copy], [data-text]');
    if (!pressed) return;
    const { text, copy = '' } = pressed.dataset;
    const value = text ?? document.getElementById(copy)?.textContent ?? '';
    // `clipboard` is missing on a page that is not on loopback.
    const isCopied = await navigator.clipboard?.writeText(value.trim()).then(
      () => true,
      () => false,
    );
    const label = find('[data-label]', pressed) ?? pressed;
    label.dataset.before ??= label.textContent ?? '';
    label.textContent = isCopied ? 'Copied' : 'Press Ctrl+C';
    said.textContent = isCopied ? 'Copied.' : 'The browser has refused to copy.';
    setTimeout(() => {
      label.textContent = label.dataset.before ?? '';
    }, SHOWN_MS);
  });
}

import { closest, copyButton, find, make } from './dom.ts';

function copyBox(text: string, className = ''): HTMLElement {
  const box = make('div', '', 'code one');
  box.append(make('pre', text, className), copyButton(text));
  return box;
}

/** Shows a secret until the user closes the dialog; `line` is a command that contains the secret. */
export function showSecret(message: string, secret: string, code?: unknown, line?: string): void {
  const heading = make('h2', message);
  heading.id = 'made-title';
  const parts: Node[] = [heading, make('p', 'Copy it now: it is shown once.'), copyBox(secret, 'secret')];
  if (line !== undefined) parts.push(make('p', 'For your shell, with the address:', 'soft'), copyBox(line));
  if (typeof code === 'string') parts.push(make('p', 'The same in a program:', 'soft'), make('code', code));
  const form = make('form', '', 'acts');
  form.setAttribute('method', 'dialog');
  form.append(make('button', 'I have copied it', 'primary'));
  const dialog = document.createElement('dialog');
  dialog.setAttribute('aria-labelledby', heading.id);
  dialog.append(...parts, form);
  dialog.addEventListener('close', () => dialog.remove());
  // Escape, even pressed twice, must not close a dialog whose content cannot be shown again.
  dialog.addEventListener('cancel', (event) => event.preventDefault());
  dialog.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') event.preventDefault();
  });
  document.body.append(dialog);
  dialog.showModal();
}

/** Opens the dialog that a button names in `data-open`, and fills it with the button's `data-about` and `data-values`. */
function openFor({ dataset: { open: id = '', about, values = '{}' } }: HTMLElement): void {
  const dialog = find<HTMLDialogElement>(`#${CSS.escape(id)}`);
  if (!dialog) return;
  const place = find('[data-name]', dialog);
  if (place && about !== undefined) place.textContent = about;
  for (const [name, value] of Object.entries(JSON.parse(values)))
    for (const field of dialog.querySelectorAll<HTMLInputElement>(`[name="${CSS.escape(name)}"]`)) {
      if (field.type === 'checkbox') field.checked = [value].flat().includes(field.value);
      else field.value = String(value);
    }
  dialog.showModal();
}

export function addDialogs(): void {
  document.addEventListener('click', ({ target }) => {
    const pressed = closest(target, '[data-open], [data-close]');
    if (pressed?.dataset.open !== undefined) openFor(pressed);
    if (pressed?.dataset.close !== undefined) pressed.closest('dialog')?.close();
  });
  find<HTMLDialogElement>(`dialog[id="${CSS.escape(location.hash.slice(1))}"]`)?.showModal();
  const clearFields = ({ target }: Event): void => {
    if (target instanceof HTMLDialogElement) for (const form of target.querySelectorAll('form')) form.reset();
  };
  document.addEventListener('close', clearFields, true);
}

/** Keeps the chosen tab of snippets for all pages. */
export function keepTab(): void {
  const chosen = sessionStorage.getItem('snippet');
  for (const radio of document.querySelectorAll<HTMLInputElement>('input[name=as]'))
    radio.checked ||= radio.value === chosen;
  document.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLInputElement && target.name === 'as') sessionStorage.setItem('snippet', target.value);
  });
}

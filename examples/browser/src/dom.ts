/** Returns the element with `data-part="name"` below a root; throws unless it is of the type. */
export function part<T extends Element>(root: ParentNode, name: string, type: new () => T): T {
  const element = root.querySelector(`[data-part="${name}"]`);
  if (element instanceof type) return element;
  throw new Error(`The page has no ${type.name} "${name}".`);
}

/** Returns a copy of the content of a `<template>`. */
export function copyOf<T extends Element>(id: string, type: new () => T): T {
  const template = document.getElementById(id);
  const copy = template instanceof HTMLTemplateElement && template.content.firstElementChild?.cloneNode(true);
  if (copy instanceof type) return copy;
  throw new Error(`The page has no template "${id}".`);
}

/** Shows a name, which may be cut if it is too long; the tooltip shows it in full. */
export function showName(element: HTMLElement, name: string): void {
  element.textContent = name;
  element.title = name;
}

/** Returns the value of a form's field. */
export function textOf(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value : '';
}

/** Sets the value of a field. */
export function fill(form: HTMLFormElement, name: string, value: string): void {
  const field = form.elements.namedItem(name);
  if (field instanceof HTMLInputElement) field.value = value;
}

/** Runs `work` when a form is submitted; ignores submits while it runs. */
export function onSubmit(form: HTMLFormElement, signal: AbortSignal, work: () => Promise<void>): void {
  const submitted = once(form, work);
  const listen = (event: SubmitEvent): void => {
    event.preventDefault();
    void submitted();
  };
  form.addEventListener('submit', listen, { signal });
}

/** Runs `work` when a button is clicked; ignores clicks while it runs. */
export function onClick(button: HTMLButtonElement, signal: AbortSignal, work: () => unknown): void {
  button.addEventListener('click', once(button, work), { signal });
}

/** Returns `work` limited to one run at a time. Sets `aria-busy` meanwhile, because `disabled` would lose the focus. */
function once(element: Element, work: () => unknown): () => Promise<void> {
  element.ariaBusy = 'false';
  return async () => {
    if (element.ariaBusy === 'true') return;
    element.ariaBusy = 'true';
    try {
      await work();
    } finally {
      element.ariaBusy = 'false';
    }
  };
}

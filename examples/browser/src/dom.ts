/** The element marked `data-part="name"` below a root, of the type it must have. */
export function part<T extends Element>(root: ParentNode, name: string, type: new () => T): T {
  const found = root.querySelector(`[data-part="${name}"]`);
  if (found instanceof type) return found;
  throw new Error(`The page has no ${type.name} "${name}".`);
}

/** A copy of what a `<template>` holds. */
export function copyOf<T extends Element>(id: string, type: new () => T): T {
  const template = document.getElementById(id);
  const copy = template instanceof HTMLTemplateElement && template.content.firstElementChild?.cloneNode(true);
  if (copy instanceof type) return copy;
  throw new Error(`The page has no template "${id}".`);
}

/** Shows a name that may be longer than its place: pointing at it shows it in full. */
export function showName(element: HTMLElement, name: string): void {
  element.textContent = name;
  element.title = name;
}

/** The text of a form's field. */
export function textOf(form: HTMLFormElement, name: string): string {
  const value = new FormData(form).get(name);
  return typeof value === 'string' ? value : '';
}

/** Puts a text into a field. */
export function fill(form: HTMLFormElement, name: string, value: string): void {
  const field = form.elements.namedItem(name);
  if (field instanceof HTMLInputElement) field.value = value;
}

/** Runs the work of a form when it is submitted; submitted during it, nothing happens. */
export function onSubmit(form: HTMLFormElement, signal: AbortSignal, work: () => Promise<void>): void {
  const submitted = once(form, work);
  const listen = (event: SubmitEvent): void => {
    event.preventDefault();
    void submitted();
  };
  form.addEventListener('submit', listen, { signal });
}

/** Runs the work of a button; clicked during it, nothing happens. */
export function onClick(button: HTMLButtonElement, signal: AbortSignal, work: () => unknown): void {
  button.addEventListener('click', once(button, work), { signal });
}

/** One run at a time, shown as `aria-busy`: unlike `disabled`, that leaves the focus where it is. */
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

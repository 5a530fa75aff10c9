export const find = <T extends Element = HTMLElement>(selector: string, root: ParentNode = document): T | null =>
  root.querySelector<T>(selector);

export const make = (name: string, text: string, className = ''): HTMLElement =>
  Object.assign(document.createElement(name), { textContent: text, className });

export function copyButton(text: string): HTMLElement {
  const created = make('button', 'Copy', 'small');
  created.dataset.text = text;
  return created;
}

export const closest = (target: EventTarget | null, selector: string): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>(selector) : null;

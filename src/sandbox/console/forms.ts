import { html } from 'hono/html';
import { type Content, type Html, withoutOverrides } from './html.ts';

/** A form that does an action. */
interface ActionForm {
  /** Method and path of the endpoint. */
  readonly action: string;
  readonly submit: string;
  readonly fields?: Content;
  /** Fields with a fixed value. */
  readonly values?: Readonly<Record<string, string | number>>;
  /** A question that is asked first, and what happens then. */
  readonly confirm?: readonly [question: string, consequence: string];
  /** Describes the button, if its text alone does not. */
  readonly label?: string;
  /** Page to open when it is done. */
  readonly leave?: string;
  /** Classes of the button. */
  readonly style?: string;
  /** Layout of the fields. @default one below the other */
  readonly layout?: 'row';
}

/** Returns a form that the page's script sends as JSON. */
export function actionForm(form: ActionForm): Html {
  const { action, submit, fields = '', confirm, label, leave, style = '', layout } = form;
  const isInline = fields === '';
  const [question, consequence] = confirm?.map(withoutOverrides) ?? [];
  const button = html`<button${optional('class', style || undefined)}${optional('aria-label', label)}>${submit}</button>`;
  const attributes = [
    optional('data-leave', leave),
    optional('data-confirm', question),
    optional('data-consequence', consequence),
  ];
  const last = isInline || layout === 'row' ? button : html`<div class="acts">${button}</div>`;
  return html`<form${isInline ? '' : html` class="form ${layout ?? ''}"`} method="post" data-action="${action}"${attributes}>
${hiddenFields(form.values)}${fields}${last}</form>`;
}

const optional = (name: string, value: string | undefined): Html | '' =>
  value === undefined ? '' : html` ${name}="${value}"`;

const hiddenFields = (values: ActionForm['values'] = {}): Html[] =>
  Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" data-type="${typeof value}">`,
  );

/** A form in a dialog, which buttons open. */
interface FormDialog extends Pick<ActionForm, 'action' | 'submit' | 'values' | 'style' | 'leave'> {
  readonly id: string;
  readonly title: Content;
  readonly lead?: Content;
  readonly fields: Content;
}

/** Returns a dialog with a form that the script sends. The button that opens it may set its hidden fields. */
export function formDialog({
  id,
  title,
  lead = '',
  fields,
  action,
  submit,
  values,
  style = 'primary',
  leave,
}: FormDialog): Html {
  return html`<dialog id="${id}" aria-labelledby="${id}-title">
<form method="post" data-action="${action}"${optional('data-leave', leave)}><h2 id="${id}-title">${title}</h2>
${lead === '' ? '' : html`<p class="soft">${lead}</p>`}<div class="form">${hiddenFields(values)}${fields}</div>
<div class="acts"><button type="button" data-close>Cancel</button><button class="${style}">${submit}</button></div></form></dialog>`;
}

/** Returns a button that opens a dialog, with the values of its hidden fields and the name of what it is about. */
export function opener(
  dialog: string,
  text: string,
  {
    label,
    style = '',
    about,
    values,
  }: { label?: string; style?: string; about?: string; values?: ActionForm['values'] } = {},
): Html {
  const attributes = [
    optional('aria-label', label),
    optional('data-about', about),
    optional('data-values', values && JSON.stringify(values)),
  ];
  return html`<button type="button" class="${style}" data-open="${dialog}"${attributes}>${text}</button>`;
}

type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Returns an input with its label. */
export function input(label: string, name: string, attributes: Attributes = {}, hint = ''): Html {
  return html`<label>${label} <input name="${name}"${attributesOf(attributes)}>${hint === '' ? '' : html`<small>${hint}</small>`}</label>`;
}

/** Returns a checkbox with its label. */
export const checkbox = (label: string, name: string, value: string, attributes: Attributes = {}): Html =>
  html`<label class="check"><input type="checkbox" name="${name}" value="${value}"${attributesOf(attributes)}> ${label}</label>`;

/** Options of a selection: a value and its text. */
export type Choices = readonly (readonly [value: string | number, text: string])[];

/** Returns a selection with its label. */
export function select(label: string, name: string, options: Choices, current = ''): Html {
  return html`<label>${label} ${selection(name, options, current)}</label>`;
}

/** Returns a selection. */
export function selection(name: string, options: Choices, current = '', label?: string): Html {
  const isNumber = options.every(([value]) => typeof value === 'number');
  return html`<select name="${name}" data-type="${isNumber ? 'number' : 'string'}"${optional('aria-label', label)}>${options.map(
    ([value, text]) =>
      html`<option value="${value}"${String(value) === current ? html` selected` : ''}>${text}</option>`,
  )}</select>`;
}

const attributesOf = (attributes: Attributes): (Html | '')[] =>
  Object.entries(attributes).map(([name, value]) =>
    value === false ? '' : value === true ? html` ${name}` : html` ${name}="${value}"`,
  );

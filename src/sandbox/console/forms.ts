import { html } from 'hono/html';
import { type Attributes, attributesOf, type Content, type Html } from './html.ts';
import { withoutOverrides } from './words.ts';

interface ActionForm {
  readonly fields?: Content;
  readonly values?: Readonly<Record<string, string | number | readonly string[]>>;
  readonly style?: string;
  /** The question to confirm before sending, with the consequence. */
  readonly confirm?: string | undefined;
  readonly label?: string | undefined;
}

/** Returns a form that the page's script sends as JSON; `action` is the method and the path of the endpoint. */
export function actionForm(action: string, submit: Content, form: ActionForm = {}): Html {
  const { values = {}, fields = '', confirm, label, style } = form;
  const isInline = fields === '';
  const asked = attributesOf({ 'data-confirm': confirm && withoutOverrides(confirm) });
  const hidden = Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" data-type="${typeof value}">`,
  );
  const button = html`<button${attributesOf({ class: style, 'aria-label': label })}>${submit}</button>`;
  const last = isInline ? button : html`<div class="acts">${button}</div>`;
  return html`<form${attributesOf({ class: isInline ? '' : 'form' })} method="post" data-action="${action}"${asked}>
${hidden}${fields}${last}</form>`;
}

export const advanceBy = (ms: number, submit: string, style = '', label?: string): Html =>
  actionForm('POST /api/clock/advance', submit, { values: { ms: Math.max(0, Math.ceil(ms)) }, style, label });

const ADVANCES = [
  ['+1 min', 60_000],
  ['+10 min', 600_000],
  ['+1 h', 3_600_000],
  ['+1 d', 86_400_000],
] as const;

const advanceButton = ([text, ms]: (typeof ADVANCES)[number]): Html =>
  html`<button class="small" name="ms" value="${ms}" data-type="number">${text}</button>`;

export const advances = (): Html =>
  html`<form class="acts" method="post" data-action="POST /api/clock/advance">${ADVANCES.map(advanceButton)}</form>`;

export function formDialog(
  id: string,
  title: Content,
  action: string,
  submit: string,
  { lead = '', fields = '', style = 'primary' }: Pick<ActionForm, 'fields' | 'style'> & { readonly lead?: Content },
): Html {
  return html`<dialog id="${id}" aria-labelledby="${id}-title">
<form method="post" data-action="${action}"><h2 id="${id}-title">${title}</h2>
${lead === '' ? '' : html`<p class="soft">${lead}</p>`}<div class="form">${fields}</div>
<div class="acts"><button type="button" data-close>Cancel</button><button class="${style}">${submit}</button></div></form></dialog>`;
}

/** Label and style of a button, and what it passes to its dialog: field values, and the name of the dialog's object. */
interface Opener extends Pick<ActionForm, 'label' | 'style' | 'values'> {
  readonly about?: string;
}

export function opener(dialog: string, text: string, { label, style, about, values }: Opener = {}): Html {
  const attributes = attributesOf({
    class: style,
    'data-open': dialog,
    'aria-label': label,
    'data-about': about,
    'data-values': values && JSON.stringify(values),
  });
  return html`<button type="button"${attributes}>${text}</button>`;
}

/** Returns the form with which the browser logs in as an account, for the consent page of OAuth. */
export const logInAs = (email: string): Html =>
  html`<form method="post" action="/login-as"><input type="hidden" name="account" value="${email}">
<button aria-label="Log in as ${email}">Log in as</button></form>`;

export function input(label: Content, name: string, attributes: Attributes = {}, hint = ''): Html {
  const small = hint === '' ? '' : html`<small>${hint}</small>`;
  return html`<label>${label} <input${attributesOf({ name, ...attributes })}>${small}</label>`;
}

export const numberInput = (label: string, name: string, attributes: Attributes = {}): Html =>
  input(label, name, { type: 'number', min: 0, ...attributes });

export const checkbox = (label: string, name: string, value: string, attributes: Attributes = {}): Html =>
  html`<label class="check"><input${attributesOf({ type: 'checkbox', name, value, ...attributes })}> ${label}</label>`;

type Choices = readonly (readonly [value: string | number, text: string])[];

export function select(label: string, name: string, options: Choices): Html {
  const type = options.every(([value]) => typeof value === 'number') ? 'number' : 'string';
  const choices = options.map(([value, text]) => html`<option value="${value}">${text}</option>`);
  return html`<label>${label} <select name="${name}" data-type="${type}">${choices}</select></label>`;
}

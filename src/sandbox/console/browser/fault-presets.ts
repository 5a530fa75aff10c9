import { describeRule, PRESETS } from '../fault-words.ts';
import { closest, find } from './dom.ts';
import { readFields } from './send-forms.ts';

/** Shows what the rule of the form does, and the command that adds it. */
function describe(form: HTMLFormElement): void {
  // The form has the fields of a rule.
  const { title, client, command } = describeRule(readFields(form), find('.addr')?.dataset.text ?? '');
  for (const [name, text] of Object.entries({ title, client, command })) {
    const place = find(`[data-rule=${name}]`, form);
    if (place) place.textContent = text;
  }
}

/** Sets the fields of a preset, and shows these alone; without a preset, all are shown as they are. */
function choose(form: HTMLFormElement, preset: string): void {
  const [, rule] = PRESETS.find(([text]) => text === preset) ?? [];
  for (const label of form.querySelectorAll<HTMLElement>('label:has([name]):not(.seg label)')) {
    const field = find<HTMLInputElement | HTMLSelectElement>('[name]', label);
    if (!field) continue;
    const value = rule && Object.entries(rule).find(([name]) => name === field.name)?.[1];
    label.hidden = rule !== undefined && value === undefined;
    if (!rule) continue;
    if (field instanceof HTMLInputElement && field.type === 'checkbox') field.checked = value === true;
    else field.value = value === undefined ? '' : String(value);
  }
  describe(form);
}

/** Lets the dialog that adds a fault fill in presets, and say what the rule does. */
export function addFaultPresets(): void {
  const form = find<HTMLFormElement>('#add form');
  if (!form || !find('[data-rule]', form)) return;
  form.addEventListener('input', ({ target }) => {
    const radio = closest(target, '[data-preset]');
    if (radio instanceof HTMLInputElement) choose(form, radio.value);
    else describe(form);
  });
  // After the fields have their first values again.
  form.addEventListener('reset', () => setTimeout(() => choose(form, PRESETS[0]?.[0] ?? '')));
  choose(form, PRESETS[0]?.[0] ?? '');
}

import { html } from 'hono/html';
import { type ActiveFault, describeFault } from '../../faults.ts';
import type { ConsoleContext } from '../console-context.ts';
import { describeRule, PRESETS } from '../fault-words.ts';
import { actionForm, checkbox, formDialog, input, numberInput, opener, select } from '../forms.ts';
import { commandLine } from '../highlight.ts';
import { attributesOf, emptyState, foreign, type Html, head, live } from '../html.ts';
import type { Page } from '../layout.ts';
import { table } from '../lists.ts';

/** The fault rules. */
export function faultsPage({ sandbox, service, addresses }: ConsoleContext): Page {
  const rules = sandbox.faults.list();
  const clear = live('clear', rules.length > 0 ? removeAll(rules.length) : '');
  return {
    title: 'Faults',
    content: [
      head('Faults', '', [clear, opener('add', 'Add a fault…', { style: 'primary' })]),
      html`<p class="lead">Requests that a rule matches fail on purpose. The first rule that matches applies.</p>`,
      live('faults', faultTable(rules)),
      addDialog(Object.keys(service.operations), addresses().api),
    ],
  };
}

const removeAll = (count: number): Html =>
  actionForm('DELETE /api/faults', 'Remove all…', {
    style: 'danger',
    confirm: [`Remove all ${count} rules?`, 'Requests that they hold continue.'],
  });

const NO_FAULTS = emptyState('No faults', 'Every request is served.');

const faultTable = (rules: readonly ActiveFault[]): Html =>
  table('Fault rules, in order', rules, NO_FAULTS, [
    ['Rule', 'w4', ({ id }) => id, 'named'],
    ['Requests', '', requestsOf, 'main cut'],
    ['Fault', 'w14', faultOf, 'side2'],
    ['Rate', 'w6 lo', ({ rule: { rate } }) => (rate === undefined ? 'always' : `${rate * 100} %`)],
    ['Left', 'w6', ({ remaining }) => (Number.isFinite(remaining) ? remaining : 'no limit'), 'named'],
    ['Actions', 'w7', ({ id }) => remove(id), 'acts'],
  ]);

const requestsOf = ({ rule: { on = 'all' } }: ActiveFault): Html =>
  typeof on === 'function' ? html`by a function` : html`<code>${foreign(on)}</code>`;

function faultOf({ rule }: ActiveFault): Html {
  const after = rule.retryAfter === undefined ? '' : `, Retry-After ${rule.retryAfter} s`;
  return html`<span title="${describeFault(rule)}">${describeFault(rule)}${after}</span>`;
}

const remove = (id: number): Html =>
  actionForm('POST /api/faults/remove', 'Remove', { values: { id }, label: `Remove rule ${id}`, style: 'small' });

/** The dialog that adds a rule; the script shows the fields of the chosen preset, and what the rule does. */
function addDialog(names: readonly string[], api: string): Html {
  const [[first = '', rule = {}] = []] = PRESETS;
  const { title, client, command } = describeRule(rule, api);
  const presets = [...PRESETS.map(([text]) => text), 'Something else…'].map((text) => {
    const radio = { type: 'radio', name: 'preset', value: text, 'data-preset': true, checked: text === first };
    return html`<label><input${attributesOf(radio)}> ${text}</label>`;
  });
  return formDialog('add', 'Add a fault', 'POST /api/faults', 'Add the fault', {
    lead: 'What shall go wrong?',
    fields: [
      html`<fieldset class="presets"><legend class="sr">Preset</legend><div class="seg">${presets}</div></fieldset>`,
      input('Requests', 'on', { list: 'operations' }, 'An operation, a path with *, or METHOD /path. Empty: all'),
      html`<datalist id="operations">${names.map((name) => html`<option value="${name}"></option>`)}</datalist>`,
      html`<div class="form row">${ruleFields()}</div>`,
      html`<div class="note busy"><p class="busy" data-rule="title">${title}</p><p data-rule="client">${client}</p></div>`,
      commandLine('fault-command', command, 'command'),
    ],
  });
}

const CUTS = [
  ['', 'no'],
  ['before', 'before it acts'],
  ['after', 'after it acts'],
  ['body', 'within the body'],
] as const;

const ruleFields = (): readonly Html[] => [
  numberInput('Status', 'status', { min: 400, max: 599 }),
  numberInput('Retry-After, s', 'retryAfter'),
  select('Cut the connection', 'cut', CUTS),
  checkbox('Send half of the response', 'malformed', 'true'),
  numberInput('Delay, ms', 'delay'),
  numberInput('Keep creates in flight, ms', 'inFlight'),
  numberInput('Probability, 0 to 1', 'rate', { max: 1, step: 'any', placeholder: '1' }),
  numberInput('Times', 'times', { min: 1, placeholder: 'no limit' }),
];

import { html } from 'hono/html';
import { type ActiveFault, describeFault } from '../../faults.ts';
import type { ConsoleContext } from '../console-context.ts';
import { describeRule, PRESETS } from '../fault-words.ts';
import { actionForm, checkbox, formDialog, input, opener, select } from '../forms.ts';
import { commandLine } from '../highlight.ts';
import { emptyState, foreign, type Html, head, live } from '../html.ts';
import type { Page } from '../layout.ts';
import { cell, row, table } from '../lists.ts';

const CUTS = [
  ['', 'no'],
  ['before', 'before the service acts'],
  ['after', 'after it has acted'],
  ['body', 'in the middle of the body'],
] as const;

/** The fault rules. */
export function faultsPage({ sandbox, service }: ConsoleContext): Page {
  const rules = sandbox.faults.list();
  return {
    title: 'Faults',
    content: [
      head('Faults', '', [
        live('clear', rules.length > 0 ? removeAll(rules.length) : ''),
        opener('add', 'Add a fault…', { style: 'primary' }),
      ]),
      html`<p class="lead">Requests that a rule matches fail on purpose. The first rule that matches applies.</p>`,
      live(
        'faults',
        table(
          'Fault rules, in order',
          [['Rule', 'w4'], ['Requests'], ['Fault', 'w14'], ['Rate', 'w6 lo'], ['Left', 'w6'], ['Actions', 'w7']],
          rules.map(rowOf),
          emptyState(
            'No faults',
            'Every request is served. Lose the response of the next create:',
            commandLine('fault', 'npx aud sandbox fault add --on audiences.create --cut after --times 1'),
          ),
        ),
      ),
      addDialog(Object.keys(service.operations)),
    ],
  };
}

const removeAll = (count: number): Html =>
  actionForm({
    action: 'DELETE /api/faults',
    submit: 'Remove all…',
    style: 'danger',
    confirm: [`Remove all ${count} rules?`, 'Requests that they hold continue.'],
  });

const rowOf = ({ id, rule, remaining }: ActiveFault): Html =>
  row([
    cell(id, '', 'Rule'),
    cell(typeof rule.on === 'function' ? 'by a function' : html`<code>${foreign(rule.on ?? 'all')}</code>`, 'main cut'),
    cell(
      html`<span title="${describeFault(rule)}">${describeFault(rule)}${rule.retryAfter === undefined ? '' : `, Retry-After ${rule.retryAfter} s`}</span>`,
      'side2',
    ),
    cell(rule.rate === undefined ? 'always' : `${rule.rate * 100} %`, 'lo'),
    cell(Number.isFinite(remaining) ? remaining : 'no limit', '', 'Left'),
    cell(
      actionForm({
        action: 'POST /api/faults/remove',
        submit: 'Remove',
        values: { id },
        label: `Remove rule ${id}`,
        style: 'small',
      }),
      'acts',
    ),
  ]);

/** The dialog that adds a rule; the script shows the fields of the chosen preset, and what the rule does. */
function addDialog(names: readonly string[]): Html {
  const [[first = '', rule = {}] = []] = PRESETS;
  const { title, client, command } = describeRule(rule);
  const presets = [...PRESETS.map(([text]) => text), 'Something else…'];
  return formDialog({
    id: 'add',
    title: 'Add a fault',
    lead: 'What shall go wrong?',
    action: 'POST /api/faults',
    submit: 'Add the fault',
    fields: [
      html`<fieldset class="presets"><legend class="sr">Preset</legend><div class="seg">${presets.map(
        (text) =>
          html`<label><input type="radio" name="preset" value="${text}" data-preset${text === first ? html` checked` : ''}> ${text}</label>`,
      )}</div></fieldset>`,
      input('Requests', 'on', { list: 'operations' }, 'An operation, a path with *, or METHOD /path. Empty: all'),
      html`<datalist id="operations">${names.map((name) => html`<option value="${name}"></option>`)}</datalist>`,
      html`<div class="form row">${[
        input('Status', 'status', { type: 'number', min: 400, max: 599 }),
        input('Retry-After, s', 'retryAfter', { type: 'number', min: 0 }),
        select('Cut the connection', 'cut', CUTS),
        checkbox('Send half of the response', 'malformed', 'true'),
        input('Delay, ms', 'delay', { type: 'number', min: 0 }),
        input('Keep creates in flight, ms', 'inFlight', { type: 'number', min: 0 }),
        input('Probability, 0 to 1', 'rate', { type: 'number', min: 0, max: 1, step: 'any', placeholder: '1' }),
        input('Times', 'times', { type: 'number', min: 1, placeholder: 'no limit' }),
      ]}</div>`,
      html`<div class="note busy"><p class="busy" data-rule="title">${title}</p><p data-rule="client">${client}</p></div>
<div class="code one"><pre id="fault-command" data-rule="command">${command}</pre>
<button type="button" class="quiet small" data-copy="fault-command" aria-label="Copy the command">Copy</button></div>`,
    ],
  });
}

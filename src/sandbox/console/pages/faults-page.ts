import { html } from 'hono/html';
import { type ActiveFault, describeFault } from '../../faults.ts';
import type { ConsoleContext } from '../console-context.ts';
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
export function faultsPage({ sandbox }: ConsoleContext): Page {
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
      addDialog(),
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

const addDialog = (): Html =>
  formDialog({
    id: 'add',
    title: 'Add a fault',
    lead: html`It needs one of: a status, a cut, half of the response, a delay, creates in flight.`,
    action: 'POST /api/faults',
    submit: 'Add the rule',
    fields: [
      input('Requests', 'on', { placeholder: 'all' }, 'Such as usage.get, /uploads/*, or GET /api/v2/audiences/{id}'),
      input('Number of requests', 'times', { type: 'number', min: 1, placeholder: 'no limit' }),
      input('Respond with status', 'status', { type: 'number', min: 400, max: 599 }),
      input('Retry-After in seconds', 'retryAfter', { type: 'number', min: 0 }),
      select('Cut the connection', 'cut', CUTS),
      checkbox('Send half of the response', 'malformed', 'true'),
      input('Delay in ms', 'delay', { type: 'number', min: 0 }),
      input('Keep creates in flight, in ms', 'inFlight', { type: 'number', min: 0 }, 'Creates with an Idempotency-Key'),
      input('Probability, 0 to 1', 'rate', { type: 'number', min: 0, max: 1, step: 'any', placeholder: '1' }),
    ],
  });

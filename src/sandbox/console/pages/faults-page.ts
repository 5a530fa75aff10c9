import { html } from 'hono/html';
import { operations } from '../../../spec/operations.ts';
import { describeFault } from '../../faults.ts';
import { actionForm, input, live, select, table } from '../html.ts';
import type { Page } from '../layout.ts';
import type { ConsoleContext } from '../operator-api.ts';

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
      live('faults', [
        table(
          'Fault rules, in order',
          ['Rule', 'Requests', 'Fault', 'Rate', 'Left', 'Action'],
          rules.map(({ id, rule, remaining }) => [
            id,
            typeof rule.on === 'function' ? 'by a function' : (rule.on ?? 'all'),
            describeFault(rule),
            rule.rate === undefined ? 'always' : `${rule.rate * 100} %`,
            Number.isFinite(remaining) ? remaining : 'no limit',
            actionForm({
              action: 'POST /api/faults/remove',
              submit: 'Remove',
              values: { id },
              label: `Remove rule ${id}`,
            }),
          ]),
          'No faults: every request reaches the service. Add a rule to have some fail.',
        ),
        rules.length > 0 ? actionForm({ action: 'DELETE /api/faults', submit: 'Remove all' }) : '',
      ]),
      html`<h2>Add a rule</h2>
<p>Requests are an operation such as <code>usage.get</code>, a complete path, or a method and path: <code>GET /api/v2/audiences/{id}</code>, in
which <code>*</code> matches anything.</p>
<datalist id="operations">${Object.keys(operations).map((name) => html`<option value="${name}"></option>`)}</datalist>
${actionForm({
  action: 'POST /api/faults',
  submit: 'Add the rule',
  fields: [
    input('Requests', 'on', { list: 'operations', placeholder: 'all' }),
    input('Respond with status', 'status', { type: 'number', min: 400, max: 599 }),
    input('Retry-After in seconds', 'retryAfter', { type: 'number', min: 0 }),
    select('Cut the connection', 'cut', CUTS),
    input('Delay in ms', 'delay', { type: 'number', min: 0 }),
    input('Keep creates in flight, in ms', 'inFlight', { type: 'number', min: 0 }),
    html`<label>Send half of the response <input type="checkbox" name="malformed" value="true" data-checked></label>`,
    input('Probability, 0 to 1', 'rate', { type: 'number', min: 0, max: 1, step: 'any' }),
    input('Number of requests', 'times', { type: 'number', min: 1 }),
  ],
})}`,
    ],
  };
}

import { html } from 'hono/html';
import { type ActiveFault, describeFault } from '../../faults.ts';
import type { ConsoleContext } from '../console-context.ts';
import { actionForm, checkbox, formDialog, input, numberInput, opener, select } from '../forms.ts';
import { emptyState, foreign, type Html, head, hint, linkButton, live } from '../html.ts';
import type { Page } from '../layout.ts';
import { table } from '../lists.ts';

export function faultsPage({ service }: ConsoleContext): Page {
  return {
    title: 'Faults',
    content: [
      head('Faults', '', [
        linkButton('/requests?status=faults', 'Requests with faults'),
        opener('add', 'Add a fault…', { style: 'primary' }),
      ]),
      hint('The first rule that matches a request applies, unless it is used up or its rate skips the request.'),
      live('faults', faultTable(service.faults.all)),
      presets(),
      addDialog(Object.keys(service.operations)),
    ],
  };
}

const NO_FAULTS = emptyState('No faults', 'No request fails on purpose.');

const faultTable = (rules: readonly ActiveFault[]): Html =>
  table('Fault rules, in order', rules, NO_FAULTS, [
    ['Rule', 'w1', ({ id }) => id],
    ['Requests', '', requestsOf, 'main'],
    ['Fault', 'w5', faultOf, 'full'],
    ['Rate', 'w1', ({ rule: { rate = 1 } }) => rate],
    ['Times', 'w3', usedText],
    ['Actions', 'w2', ({ id }) => remove(id), 'right'],
  ]);

const requestsOf = ({ rule: { on = 'all' } }: ActiveFault): Html =>
  typeof on === 'function' ? html`by a function` : html`<code>${foreign(on)}</code>`;

function faultOf({ rule }: ActiveFault): Html {
  const after = rule.retryAfter === undefined ? '' : `, Retry-After ${rule.retryAfter} s`;
  const text = `${rule.cut === 'after' ? 'response lost: ' : ''}${describeFault(rule)}${after}`;
  return html`<span title="${text}">${text}</span>`;
}

const usedText = ({ rule: { times }, remaining }: ActiveFault): string =>
  times === undefined ? 'no limit' : `used ${times - remaining} of ${times}`;

const remove = (id: number): Html =>
  actionForm('POST /api/faults/remove', 'Remove', { values: { id }, label: `Remove rule ${id}`, style: 'small' });

const PRESETS: readonly (readonly [text: string, rule: Readonly<Record<string, string | number>>])[] = [
  ['Rate limited', { on: 'audiences.create', status: 429, retryAfter: 30, times: 1 }],
  ['Response lost', { on: 'audiences.create', cut: 'after', times: 1 }],
  ['Half a response', { on: 'audiences.list', malformed: 'true', times: 1 }],
  ['500, once', { on: 'audiences.create', status: 500, times: 1 }],
  ['503, three times', { on: 'audiences.create', status: 503, times: 3 }],
  ['Slow', { on: 'audiences.list', delay: 5_000, times: 1 }],
];

const presets = (): Html =>
  html`<p class="acts">Often wanted: ${PRESETS.map(([text, values]) => opener('add', `${text}…`, { style: 'small', values }))}</p>`;

const ON = 'An operation, a path (* matches anything), or METHOD /path. Empty: all requests';

const addDialog = (names: readonly string[]): Html =>
  formDialog('add', 'Add a fault', 'POST /api/faults', 'Add the fault', {
    fields: [
      input('Requests', 'on', { list: 'operations' }, ON),
      html`<datalist id="operations">${names.map((name) => html`<option value="${name}"></option>`)}</datalist>`,
      html`<div class="pairs">${ruleFields()}</div>
<small>Cut after the action: the service creates the resource, but its response is lost. Hold create requests: during this time, other requests with the same idempotency key get 409.</small>`,
    ],
  });

const CUTS = [
  ['', 'no'],
  ['before', 'before the action'],
  ['after', 'after the action'],
  ['body', 'within the body'],
] as const;

const ruleFields = (): readonly Html[] => [
  numberInput('Status', 'status', { min: 400, max: 599 }),
  numberInput('Retry-After, s', 'retryAfter'),
  select('Cut the connection', 'cut', CUTS),
  checkbox('Half a response', 'malformed', 'true'),
  numberInput('Delay, ms', 'delay'),
  numberInput('Hold create requests, ms', 'inFlight'),
  numberInput('Rate, 0 to 1', 'rate', { max: 1, step: 'any', placeholder: '1' }),
  numberInput('Times', 'times', { min: 1, placeholder: 'no limit' }),
];

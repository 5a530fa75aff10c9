import { html } from 'hono/html';
import { type DeliveryGroup, type EndedAttempt, isDelivered } from '../delivery-groups.ts';
import { actionForm } from '../forms.ts';
import { codeBlock, prettyJson } from '../highlight.ts';
import {
  badge,
  count,
  durationText,
  facts,
  foreign,
  type Html,
  httpBadge,
  relativeText,
  timeElement,
} from '../html.ts';
import { redactBody, redactUrl } from '../redact-request.ts';

/** Returns the form that delivers an event again. */
export const redeliver = (event: string, api: string, style: string): Html =>
  actionForm({
    action: `POST ${api}/webhooks/redeliver`,
    submit: 'Redeliver',
    values: { event },
    label: `Redeliver ${event}`,
    style,
  });

/** Returns the status of a receiver, or why there is none. */
export function responseBadge({ delivery: { status }, failure = 'unreachable' }: EndedAttempt): Html {
  return status === undefined ? badge('bad', FAILURES[failure]) : httpBadge(status);
}

const FAILURES = { timeout: 'timeout', refused: 'refused', unreachable: 'no response' } as const;

const advanceTo = (ms: number): Html =>
  actionForm({
    action: 'POST /api/clock/advance',
    submit: 'Advance to it',
    values: { ms: Math.ceil(ms) },
    style: 'small',
  });

/** Returns one delivery: what follows, its attempts, and what was sent. `api` is the prefix of the endpoints that do the actions. */
export function deliveryPanel(
  { event, attempts, latest, state, retryAt }: DeliveryGroup,
  api: string,
  now: number,
): Html {
  const { id, type, endpoint, body } = event;
  const failures = attempts.filter((attempt) => !isDelivered(attempt)).length;
  const next =
    retryAt === undefined
      ? ''
      : html`<span>Next attempt at ${timeElement(retryAt, now)}, ${relativeText(retryAt - now)}.</span> ${api === '/api' ? advanceTo(retryAt - now) : ''}`;
  const summary =
    state === 'delivered'
      ? html`<b class="good">Delivered.</b>`
      : html`<b class="bad">Failed ${failures === 1 ? 'once' : `${failures} times`}.</b>`;
  let before: number | undefined;
  const items = attempts.map((attempt) => {
    const { at, attempt: number, manual } = attempt.delivery;
    const gap = before === undefined ? '' : html`<li class="gap">${durationText(at - before)} later</li>`;
    before = at;
    const response = attempt.response === '' ? '' : html`<code>${redactBody(attempt.response)}</code>`;
    const line = html`<b>${number}</b> ${timeElement(at, now)} ${responseBadge(attempt)} ${manual ? badge('', 'manual') : ''}`;
    return html`${gap}<li class="${isDelivered(attempt) ? 'is-good' : 'is-bad'}"><p>${line}</p>${response}</li>`;
  });
  const { data }: { readonly data?: { readonly id?: unknown } } = Object(JSON.parse(body));
  const about = data?.id === undefined ? '' : `${type.split('.')[0]} ${String(data.id)}`;
  return html`<div class="card"><div class="head"><h2>${type}</h2><div class="acts">${redeliver(id, api, 'primary small')}</div></div>
<div class="acts">${summary} ${next}</div>
${facts(
  [
    ['Event', html`<code>${id}</code>`],
    ['Endpoint', foreign(endpoint.name)],
    ['URL', html`<code>${foreign(redactUrl(endpoint.url))}</code>`],
    ['About', about !== '' && api === '/api' ? html`<a href="/resources/${data?.id}">${about}</a>` : about],
  ],
  'list',
)}
<h3>Attempts</h3><ol class="steps">${items}</ol>
${codeBlock('delivery-headers', 'Request headers', `content-type: application/json\nservice-signature: ${latest.signature}`)}
${codeBlock('delivery-body', `Body, ${count(body.length)} bytes`, prettyJson(redactBody(body)))}
<p class="soft">A receiver that refuses it? <code>aud webhooks verify</code> checks the signature.</p></div>`;
}

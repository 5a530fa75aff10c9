import { html } from 'hono/html';
import { type DeliveryGroup, type EndedAttempt, isDelivered } from '../delivery-groups.ts';
import { actionForm, advanceBy } from '../forms.ts';
import { codeBlock, prettyJson } from '../highlight.ts';
import { badge, type Content, facts, foreign, type Html, httpBadge, timeElement } from '../html.ts';
import { redactBody, redactUrl } from '../redact-request.ts';
import { type Happening, timeline } from '../timeline.ts';
import { count, relativeText } from '../words.ts';

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

/** Returns one delivery: what follows, its attempts, and what was sent. `api` is the prefix of the endpoints that do the actions. */
export function deliveryPanel(group: DeliveryGroup, api: string, now: number): Html {
  const { event, attempts, latest } = group;
  const { id, type, endpoint, body } = event;
  const headers = `content-type: application/json\nservice-signature: ${latest.signature}`;
  return html`<div class="card"><div class="head"><h2>${type}</h2><div class="acts">${redeliver(id, api, 'primary small')}</div></div>
<div class="acts">${stateOf(group)} ${nextAttempt(group, api, now)}</div>
${facts(
  [
    ['Event', html`<code>${id}</code>`],
    ['Endpoint', foreign(endpoint.name)],
    ['URL', html`<code>${foreign(redactUrl(endpoint.url))}</code>`],
    ['About', subjectOf(event, api)],
  ],
  'list',
)}
<h3>Attempts</h3>${timeline(attempts.map((attempt) => happeningOf(attempt, now)))}
${codeBlock('delivery-headers', 'Request headers', headers)}
${codeBlock('delivery-body', `Body, ${count(body.length)} bytes`, prettyJson(redactBody(body)))}
<p class="soft">A receiver that refuses it? <code>aud webhooks verify</code> checks the signature.</p></div>`;
}

function stateOf({ attempts, state }: DeliveryGroup): Html {
  if (state === 'delivered') return html`<b class="good">Delivered.</b>`;
  const failures = attempts.filter((attempt) => !isDelivered(attempt)).length;
  return html`<b class="bad">Failed ${failures === 1 ? 'once' : `${failures} times`}.</b>`;
}

function nextAttempt({ retryAt, state }: DeliveryGroup, api: string, now: number): Content {
  if (retryAt === undefined) return '';
  const advance = api === '/api' ? advanceBy(retryAt - now, 'Advance to it', 'small') : '';
  const next = state === 'delivered' ? 'The earlier delivery still waits: next attempt at' : 'Next attempt at';
  return html`<span>${next} ${timeElement(retryAt, now)}, ${relativeText(retryAt - now)}.</span> ${advance}`;
}

/** Returns the id of the resource that an event is about. */
export function subjectIdOf({ body }: DeliveryGroup['event']): number | undefined {
  const { data }: { readonly data?: { readonly id?: unknown } } = Object(JSON.parse(body));
  return typeof data?.id === 'number' ? data.id : undefined;
}

function subjectOf(event: DeliveryGroup['event'], api: string): Content {
  const id = subjectIdOf(event);
  if (id === undefined) return '';
  const about = `${event.type.split('.')[0]} ${id}`;
  return api === '/api' ? html`<a href="/resources/${id}">${about}</a>` : about;
}

function happeningOf(attempt: EndedAttempt, now: number): Happening {
  const { at, attempt: number, manual } = attempt.delivery;
  const response = attempt.response === '' ? '' : html`<code>${redactBody(attempt.response)}</code>`;
  const line = html`<b>${number}</b> ${timeElement(at, now)} ${responseBadge(attempt)} ${manual ? badge('', 'manual') : ''}`;
  return { at, tone: isDelivered(attempt) ? 'good' : 'bad', content: html`<p>${line}</p>${response}` };
}

import { html } from 'hono/html';
import { EVENT_TYPES } from '../../admin/webhook-admin.ts';
import type { Endpoint } from '../../state.ts';
import { isDisabled } from '../../webhook-deliveries.ts';
import { actionForm, opener } from '../forms.ts';
import { badge, type Content, emptyState, foreign, type Html, timeElement } from '../html.ts';
import { table, twoLines } from '../lists.ts';
import { redactUrl } from '../redact-request.ts';

/** Returns the state of an endpoint: active, paused by somebody, or disabled by the service. */
export function endpointBadge(endpoint: Endpoint): Html {
  if (endpoint.is_active) return badge('good', 'Active');
  return isDisabled(endpoint) ? badge('bad', 'Disabled after 20 failures') : badge('', 'Paused');
}

/** Returns the webhook endpoints with their actions. */
export function endpointTable(endpoints: readonly Endpoint[], now: number): Html {
  const create = opener('create', 'Create an endpoint…', { style: 'primary' });
  const none = emptyState('No webhook endpoints', 'Your receiver gets a signed POST when a job ends.', create);
  return table('Webhook endpoints', endpoints, none, [
    ['Endpoint', '', nameLines, 'two main'],
    ['State', 'w14', (endpoint) => twoLines(endpointBadge(endpoint), secondSignature(endpoint, now)), 'two side2 cut'],
    ['Events', 'w7 lo', ({ events }) => eventsText(events), 'named'],
    ['Actions', 'w24', (endpoint) => endpointActions(endpoint), 'acts'],
  ]);
}

function nameLines({ id, name, url }: Endpoint): Html {
  const title = html`<a class="row" href="/endpoints/${id}">${foreign(name)}</a>`;
  return twoLines(html`${title} <span class="soft num">${id}</span>`, html`<code>${foreign(redactUrl(url))}</code>`);
}

const secondSignature = ({ previous }: Endpoint, now: number): Content =>
  previous && previous.until > now ? html`two signatures until ${timeElement(previous.until, now)}` : '';

/** Returns the subscribed events in few words. */
export function eventsText(events: readonly string[]): Content {
  if (events.length === EVENT_TYPES.length) return 'all';
  return events.length > 0 ? html`<span title="${events.join(', ')}">${events.join(', ')}</span>` : 'none';
}

const ROTATE = 'The new secret is shown once. The previous one also signs for 24 hours.';
const DELETE = 'Deliveries that wait for their next attempt are dropped. Those in the list stay.';

/** Returns the actions of an endpoint. The actions of its page come before the actions that ask. */
export function endpointActions(
  { id, name, is_active }: Endpoint,
  first = 'small',
  more: readonly Html[] = [],
): Html[] {
  const action = (verb: string, submit: string, style = 'small', consequence = ''): Html => {
    const label = `${submit.replace('…', '')} ${name}`;
    return actionForm(`POST /api/webhooks/${verb}`, submit, {
      values: { id },
      label,
      style,
      ...(consequence !== '' && { confirm: [`${label}?`, consequence] }),
    });
  };
  // Only an active endpoint can be tested.
  const state = is_active
    ? [action('test', 'Send test', first), action('pause', 'Pause')]
    : [action('resume', 'Resume', first)];
  return [
    ...state,
    ...more,
    action('rotate', 'Rotate secret…', 'small', ROTATE),
    action('delete', 'Delete…', 'small danger', DELETE),
  ];
}

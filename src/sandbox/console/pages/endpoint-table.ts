import { html } from 'hono/html';
import { EVENT_TYPES } from '../../admin/webhook-admin.ts';
import type { Endpoint } from '../../state.ts';
import { isDisabled } from '../../webhook-deliveries.ts';
import { actionForm, opener } from '../forms.ts';
import { badge, type Content, emptyState, foreign, type Html, linkButton, timeElement } from '../html.ts';
import { cell, row, table, twoLines } from '../lists.ts';
import { redactUrl } from '../redact-request.ts';

/** Returns the state of an endpoint: active, paused by somebody, or disabled by the service. */
export function endpointBadge(endpoint: Endpoint): Html {
  if (endpoint.is_active) return badge('good', 'Active');
  return isDisabled(endpoint) ? badge('bad', 'Disabled after 20 failures') : badge('', 'Paused');
}

/** Returns the webhook endpoints with their actions. */
export function endpointTable(
  endpoints: readonly Endpoint[],
  api: string,
  now: number,
  link?: (id: number) => string,
): Html {
  return table(
    'Webhook endpoints',
    [['Endpoint'], ['State', 'w14'], ['Events', 'w7 lo'], ['Actions', 'w24']],
    endpoints.map((endpoint) => {
      const { id, name, url, events, previous } = endpoint;
      const title = link ? html`<a class="row" href="${link(id)}">${foreign(name)}</a>` : html`<b>${foreign(name)}</b>`;
      return row([
        twoLines(
          html`${title} <span class="soft num">${id}</span>`,
          html`<code>${foreign(redactUrl(url))}</code>`,
          'main',
        ),
        twoLines(
          endpointBadge(endpoint),
          previous && previous.until > now ? html`two signatures until ${timeElement(previous.until, now)}` : '',
          'side2 cut',
        ),
        cell(eventsText(events), 'lo'),
        cell(endpointActions(endpoint, api), 'acts'),
      ]);
    }),
    emptyState(
      'No webhook endpoints',
      'Your receiver gets a signed POST when a job ends.',
      html`<p class="acts">${
        link
          ? opener('create', 'Create an endpoint…', { style: 'primary' })
          : linkButton('/account/webhooks', 'Create a webhook endpoint')
      }</p>`,
    ),
  );
}

/** Returns the subscribed events in few words. */
export function eventsText(events: readonly string[]): Content {
  if (events.length === EVENT_TYPES.length) return 'all';
  return events.length > 0 ? html`<span title="${events.join(', ')}">${events.join(', ')}</span>` : 'none';
}

/** Returns the actions of an endpoint, and those of its page before the ones that ask. */
export function endpointActions(
  { id, name, is_active }: Endpoint,
  api: string,
  first = 'small',
  more: readonly Html[] = [],
): Html[] {
  const action = (verb: string, submit: string, options: Partial<Parameters<typeof actionForm>[0]> = {}): Html =>
    actionForm({
      action: `POST ${api}/webhooks/${verb}`,
      submit,
      values: { id },
      label: `${submit.replace('…', '')} ${name}`,
      style: 'small',
      ...options,
    });
  return [
    // Only an active endpoint can be tested.
    ...(is_active
      ? [action('test', 'Send test', { style: first }), action('pause', 'Pause')]
      : [action('resume', 'Resume', { style: first })]),
    ...more,
    action('rotate', 'Rotate secret…', {
      confirm: [
        `Rotate the secret of ${name}?`,
        'The new secret is shown once. The previous one also signs for 24 hours.',
      ],
    }),
    action('delete', 'Delete…', {
      style: 'small danger',
      confirm: [`Delete ${name}?`, 'Deliveries that wait for their next attempt are dropped. Those in the list stay.'],
    }),
  ];
}

import { html } from 'hono/html';
import type { Company, Endpoint } from '../../state.ts';
import { type DeliveryAttempt, isDisabled } from '../../webhook-deliveries.ts';
import { actionForm, type Content, facts, type Html, httpBadge, live, table, timeElement } from '../html.ts';
import type { Page } from '../layout.ts';
import type { ConsoleContext } from '../operator-api.ts';

const MAX_ROWS = 100;

/** All deliveries of the sandbox. */
export function deliveriesPage(console: ConsoleContext): Page {
  const endpoints = [...console.service.state.companies.values()].flatMap((company: Company) => company.endpoints);
  return {
    title: 'Deliveries',
    content: [
      live('deliveries', deliveryTable(console, console.service.webhooks.attempts, '/api')),
      html`<h2>Endpoints</h2>`,
      live('endpoints', endpointTable(console, endpoints, '/api')),
    ],
  };
}

/** Returns the attempts, the latest first, with what was sent and received. */
export function deliveryTable({ service }: ConsoleContext, attempts: readonly DeliveryAttempt[], api: string): Html {
  const now = service.clock.now();
  const rows = attempts.slice(-MAX_ROWS).reverse();
  return table(
    'Deliveries, the latest first',
    ['Event', 'Endpoint', 'Attempt', 'Response', 'Time', 'Next attempt', 'Action'],
    rows.map((attempt) => row(attempt, now, api)),
    'No deliveries yet. Send a test, or let a job end: its event goes to every endpoint that subscribes to it.',
  );
}

function row({ event, delivery, signature, response }: DeliveryAttempt, now: number, api: string): Content[] {
  const { attempt = 0, at = now, status, retryAt, manual } = delivery ?? {};
  return [
    html`<details id="${`${event.id}-${event.endpoint.id}-${attempt}-${at}`}"><summary>${event.type} <code>${event.id}</code></summary>${facts(
      [
        ['URL', event.endpoint.url],
        ['Service-Signature', html`<code>${signature}</code>`],
        ['Response', response === '' ? 'no body' : html`<code>${response}</code>`],
      ],
    )}<pre tabindex="0">${JSON.stringify(JSON.parse(event.body), undefined, 2)}</pre></details>`,
    `${event.endpoint.id} ${event.endpoint.name}`,
    `${manual ? 'manual, ' : ''}${attempt} of 6`,
    httpBadge(status),
    timeElement(at, now),
    retryAt === undefined || retryAt <= now ? '' : timeElement(retryAt, now),
    actionForm({
      action: `POST ${api}/webhooks/redeliver`,
      submit: 'Redeliver',
      values: { event: event.id },
      label: `Redeliver ${event.id}`,
    }),
  ];
}

/** Returns the webhook endpoints with their actions. */
export function endpointTable({ service }: ConsoleContext, endpoints: readonly Endpoint[], api: string): Html {
  const now = service.clock.now();
  const action = (verb: string, { id, name }: Endpoint, submit: string, question?: string): Html =>
    actionForm({
      action: `POST ${api}/webhooks/${verb}`,
      submit,
      values: { id },
      label: `${submit} ${name}`,
      ...(question !== undefined && { confirm: question }),
    });
  return table(
    'Webhook endpoints',
    ['Endpoint', 'URL', 'State', 'Events', 'Secret', 'Actions'],
    endpoints.map((endpoint) => [
      `${endpoint.id} ${endpoint.name}`,
      endpoint.url,
      endpoint.is_active ? 'active' : isDisabled(endpoint) ? 'disabled after 20 failures' : 'paused',
      endpoint.events.length === 6 ? 'all' : endpoint.events.join(', '),
      endpoint.previous && endpoint.previous.until > now
        ? html`two signatures until ${timeElement(endpoint.previous.until, now)}`
        : 'one signature',
      html`<div class="actions">${[
        action('test', endpoint, 'Send test'),
        endpoint.is_active ? action('pause', endpoint, 'Pause') : action('resume', endpoint, 'Resume'),
        action(
          'rotate',
          endpoint,
          'Rotate secret',
          `Rotate the secret of ${endpoint.name}? The previous one also signs for 24 hours.`,
        ),
        action('delete', endpoint, 'Delete', `Delete ${endpoint.name}?`),
      ]}</div>`,
    ]),
    'No webhook endpoints. Create one to have the events of jobs delivered to a URL.',
  );
}

import { callOf } from '../admin/call-source.ts';
import type { EndpointChanges } from '../admin/webhook-admin.ts';
import type { JsonObject } from '../http/request-body.ts';
import type { Service } from '../service.ts';
import type { TokenKind } from '../state.ts';
import { type Action, action, FieldError, number, optional, string } from './action.ts';
import { groupDeliveries, receiversOf } from './delivery-groups.ts';
import { redactText } from './redact-request.ts';
import { counted } from './words.ts';

const VERBS = {
  pause: 'is paused: events are not delivered to it',
  test: 'gets a test event',
  delete: 'is deleted',
} as const;

/** Returns the name of an endpoint. If the endpoint is deleted or has no name, returns a text with its id. */
function nameOf({ state }: Service, id: unknown): string {
  const endpoints = [...state.companies.values()].flatMap((company) => company.endpoints);
  return redactText(endpoints.find((one) => one.id === id)?.name || `Webhook endpoint ${Number(id)}`);
}

const failedOf = (service: Service, id: unknown): number =>
  groupDeliveries(service).filter(({ event, state }) => event.endpoint.id === id && state === 'failed').length;

function endpointFields(fields: JsonObject): EndpointChanges {
  const { events } = fields;
  if (events !== undefined && !Array.isArray(events)) throw new FieldError('`events` must be an array.', 'events');
  return { name: optional(string, fields, 'name'), url: optional(string, fields, 'url'), events: events?.map(String) };
}

export const ACCOUNT_ACTIONS: readonly Action[] = [
  action('POST /tokens', ['kind'], {
    call: ({ account }, fields) => callOf(account.token, string(fields, 'kind') as TokenKind),
    respond: ({ result }) => ({ token: result }),
    notice: ({ fields, result }) =>
      `Token ${String(result).split('|')[0]} of the kind ${String(fields.kind)} is issued.`,
  }),
  action('POST /tokens/revoke', ['id'], {
    call: ({ account }, fields) => callOf(account.revokeToken, number(fields, 'id')),
    notice: ({ fields }) => `Token ${Number(fields.id)} is revoked.`,
  }),
  action('POST /connections/revoke', ['id'], {
    call: ({ account }, fields) => callOf(account.revokeConnection, number(fields, 'id')),
    notice: ({ fields }) => `OAuth connection ${Number(fields.id)} is revoked, with its tokens.`,
  }),
  action('POST /password', ['password'], {
    call: ({ account }, fields) => callOf(account.changePassword, string(fields, 'password')),
    respond: () => ({ changed: true }),
    notice: () => 'The password is changed. The tokens, OAuth connections and login of the account have ended.',
  }),
  action('POST /webhooks', ['name', 'url', 'events'], {
    call: ({ sandbox, account }, fields) =>
      callOf(sandbox.webhooks.create, { account, ...endpointFields(fields), url: string(fields, 'url') }),
    respond: ({ result }) => Object(result),
    notice: ({ fields: { name = 'Webhook' } }) =>
      `The webhook endpoint ${String(name)} was created. This is its secret.`,
  }),
  action('POST /webhooks/update', ['id', 'name', 'url', 'events'], {
    call: ({ sandbox }, fields) => callOf(sandbox.webhooks.update, number(fields, 'id'), endpointFields(fields)),
    notice: ({ fields, service }) => `${nameOf(service, fields.id)} was changed.`,
  }),
  action('POST /webhooks/rotate', ['id'], {
    call: ({ sandbox }, fields) => callOf(sandbox.webhooks.rotate, number(fields, 'id')),
    respond: ({ result }) => Object(result),
    notice: ({ fields, service }) =>
      `This is the new secret of ${nameOf(service, fields.id)}. The previous one also signs for 24 hours.`,
  }),
  ...(['pause', 'test', 'delete'] as const).map((verb) =>
    action(`POST /webhooks/${verb}`, ['id'], {
      call: ({ sandbox }, fields) => callOf(sandbox.webhooks[verb], number(fields, 'id')),
      notice: ({ fields: { id }, service }) => `${nameOf(service, id)} ${VERBS[verb]}.`,
    }),
  ),
  action('POST /webhooks/resume', ['id'], {
    call: ({ sandbox }, fields) => callOf(sandbox.webhooks.resume, number(fields, 'id')),
    respond: ({ fields: { id }, service }) => ({
      id,
      ...(failedOf(service, id) > 0 && { link: [`/deliveries?state=failed&q=endpoint:${id}`, 'Show the deliveries'] }),
    }),
    notice: ({ fields: { id }, service }) =>
      `${nameOf(service, id)} is active again. ${counted(failedOf(service, id), 'earlier delivery', 'earlier deliveries')} gave up.`,
  }),
  action('POST /webhooks/redeliver', ['event'], {
    call: ({ sandbox }, fields) => callOf(sandbox.webhooks.redeliver, string(fields, 'event')),
    notice: ({ fields: { event }, service }) =>
      `A redelivery to ${redactText(receiversOf(service, String(event)))} has started. Its attempts show whether it succeeds.`,
  }),
];

import type { EndpointChanges } from '../admin/webhook-admin.ts';
import type { JsonObject } from '../http/request-body.ts';
import type { TokenKind } from '../state.ts';
import { type Action, FieldError, number, optional, string } from './action.ts';

const VERBS = {
  pause: 'is paused: events are not delivered to it',
  resume: 'is active again',
  test: 'gets a test',
  delete: 'is deleted',
} as const;

/** Returns the fields of a webhook endpoint that were sent. */
function endpointFields(fields: JsonObject): EndpointChanges {
  const [name, url, { events }] = [optional(string, fields, 'name'), optional(string, fields, 'url'), fields];
  if (events !== undefined && !Array.isArray(events)) throw new FieldError('`events` must be an array.');
  return {
    ...(name !== undefined && { name }),
    ...(url !== undefined && { url }),
    ...(events && { events: events.map(String) }),
  };
}

/** The actions of an account, which its owner may do, too. */
export const ACCOUNT_ACTIONS: readonly Action[] = [
  {
    method: 'POST',
    path: '/tokens',
    fields: ['kind'],
    subject: 'account',
    run: ({ account }, fields) => account.token(string(fields, 'kind') as TokenKind),
    respond: (token) => ({ token }),
    notice: ({ kind }, _, token) => `Token ${String(token).split('|')[0]} of the kind ${String(kind)} is issued.`,
  },
  {
    method: 'POST',
    path: '/tokens/revoke',
    fields: ['id'],
    subject: 'account',
    run: ({ account }, fields) => account.revokeToken(number(fields, 'id')),
    notice: ({ id }) => `Token ${Number(id)} is revoked.`,
  },
  {
    method: 'POST',
    path: '/tokens/revoke-all',
    fields: ['kind'],
    subject: 'account',
    run: ({ account }, fields) => account.revokeTokens(string(fields, 'kind') as TokenKind),
    respond: (revoked) => ({ revoked }),
    notice: ({ kind }, _, revoked) => `${Number(revoked)} tokens of the kind ${String(kind)} are revoked.`,
  },
  {
    method: 'POST',
    path: '/connections/revoke',
    fields: ['id'],
    subject: 'account',
    run: ({ account }, fields) => account.revokeConnection(number(fields, 'id')),
    notice: () => 'The connection is revoked, with its tokens.',
  },
  {
    method: 'POST',
    path: '/password',
    fields: ['password', 'current'],
    subject: 'account',
    run: ({ account }, fields) => account.changePassword(string(fields, 'password')),
    respond: () => ({ changed: true }),
    notice: () => 'The password is changed; all tokens, connections and sessions have ended.',
  },
  {
    method: 'POST',
    path: '/webhooks',
    fields: ['name', 'url', 'events'],
    subject: 'account',
    run: ({ sandbox, account }, fields) =>
      sandbox.webhooks.create({ account, ...endpointFields(fields), url: string(fields, 'url') }),
    respond: Object,
    notice: ({ name = 'Webhook' }) => `The webhook endpoint ${String(name)} is created. This is its secret.`,
  },
  {
    method: 'POST',
    path: '/webhooks/update',
    fields: ['id', 'name', 'url', 'events'],
    subject: 'endpoint',
    run: ({ sandbox }, fields) => sandbox.webhooks.update(number(fields, 'id'), endpointFields(fields)),
    notice: ({ id }) => `Webhook endpoint ${Number(id)} is changed.`,
  },
  {
    method: 'POST',
    path: '/webhooks/rotate',
    fields: ['id'],
    subject: 'endpoint',
    run: ({ sandbox }, fields) => sandbox.webhooks.rotate(number(fields, 'id')),
    respond: Object,
    notice: ({ id }) => `The new secret of webhook endpoint ${Number(id)}. The previous one also signs for 24 hours.`,
  },
  ...(['pause', 'resume', 'test', 'delete'] as const).map(
    (verb): Action => ({
      method: 'POST',
      path: `/webhooks/${verb}`,
      fields: ['id'],
      subject: 'endpoint',
      run: ({ sandbox }, fields) => sandbox.webhooks[verb](number(fields, 'id')),
      notice: ({ id }) => `Webhook endpoint ${Number(id)} ${VERBS[verb]}.`,
    }),
  ),
  {
    method: 'POST',
    path: '/webhooks/redeliver',
    fields: ['event'],
    subject: 'event',
    run: ({ sandbox }, fields) => sandbox.webhooks.redeliver(string(fields, 'event')),
    notice: ({ event }) => `The event ${String(event)} is delivered again.`,
  },
];

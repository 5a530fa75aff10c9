import type { JsonObject } from '../util/json.ts';
import { findPath, noteReply, type Session } from './check-session.ts';
import { envelopeOf, objectIn } from './evidence.ts';

const isLink = (value: unknown): value is string =>
  typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);

const isReservation = (value: JsonObject): value is JsonObject => Object.values(value).some(isLink);

/** An upload: reserve, and a PUT of 4 bytes; never claimed, so that the service deletes it after a day. */
export async function checkUpload(session: Session): Promise<void> {
  const { probe, findings } = session;
  const id = 'uploads.reservation';
  session.onStep('An upload of 4 bytes');
  const body = { kind: 'cohort', size: 4 };
  const { value: reservation, refused } = await findPath(session, 'uploads.reserve', {
    send: ({ path }) => probe.send({ method: 'POST', path, body, why: 'reserve an upload of 4 bytes' }),
    judge: (reply) => objectIn(envelopeOf(reply), isReservation),
    evidence: () => 'The response has a presigned URL.',
  });
  if (refused) findings.set(id, 'differs', `The service names these fields: ${refused.join(', ')}.`);
  if (!reservation) return;
  const missing = ['reference', 'url', 'expires_at'].filter((field) => typeof reservation[field] !== 'string');
  const override = `operations: { 'uploads.reserve': { data: (data) => ({ reference: data.…, url: data.…, expires_at: data.… }) } }`;
  if (missing.length === 0) findings.set(id, 'confirmed', '`reference`, `url` and `expires_at`.');
  else findings.set(id, 'differs', `These fields are missing: ${missing.join(', ')}.`, override);
  const path = Object.values(reservation).find(isLink) ?? '';
  const bytes = new Blob(['1\n2\n']);
  const reply = await probe.send({ method: 'PUT', path, body: bytes, token: 'none', why: 'send 4 bytes' });
  const isAccepted = reply.status >= 200 && reply.status < 300;
  const sentence = ['A PUT without further headers', 'is accepted'] as const;
  noteReply(session, 'uploads.put', reply, isAccepted, sentence, 'client.uploads.upload({ …, headers: { … } })');
}

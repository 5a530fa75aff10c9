import { isObject, type JsonObject } from '../util/json.ts';
import { notePath, type Session, tryCandidates } from './check-session.ts';
import { envelopeOf, invalidFields } from './evidence.ts';

/** An upload: reserve, and a PUT of 4 bytes; never claimed, so that the service deletes it after a day. */
export async function checkUpload(session: Session): Promise<void> {
  const { probe, findings } = session;
  session.onStep('An upload of 4 bytes');
  const attempts = await tryCandidates(session, 'uploads.reserve', {
    send: ({ path }) =>
      probe.send({ method: 'POST', path, body: { kind: 'cohort', size: 4 }, why: 'reserve an upload of 4 bytes' }),
    judge: (reply): JsonObject | readonly string[] | undefined => {
      const refused = invalidFields(reply);
      return refused && refused.length > 0 ? refused : reservationIn(envelopeOf(reply));
    },
  });
  notePath(session, 'uploads.reserve', attempts, 'The response has a presigned URL.');
  const result = attempts.match?.result;
  if (!result) return;
  if (Array.isArray(result)) {
    findings.set('uploads.reservation', 'differs', `The service names these fields: ${result.join(', ')}.`);
    return;
  }
  const reservation: JsonObject = Object(result);
  const missing = ['reference', 'url', 'expires_at'].filter((field) => typeof reservation[field] !== 'string');
  if (missing.length === 0) findings.set('uploads.reservation', 'confirmed', '`reference`, `url` and `expires_at`.');
  else
    findings.set(
      'uploads.reservation',
      'differs',
      `These fields are missing: ${missing.join(', ')}.`,
      `operations: { 'uploads.reserve': { data: (data) => ({ reference: data.…, url: data.…, expires_at: data.… }) } }`,
    );
  const url = Object.values(reservation).find(isLink);
  if (typeof url !== 'string') return;
  const reply = await probe.send({
    method: 'PUT',
    path: url,
    body: new Blob(['1\n2\n']),
    token: 'none',
    why: 'send 4 bytes',
  });
  if (reply.status >= 200 && reply.status < 300)
    findings.set('uploads.put', 'confirmed', 'A PUT without further headers is accepted.');
  else if (reply.status > 0 && reply.status < 500)
    findings.set(
      'uploads.put',
      'differs',
      `A PUT without further headers gets ${reply.status}.`,
      'client.uploads.upload({ …, headers: { … } })',
    );
}

const isLink = (value: unknown): boolean =>
  typeof value === 'string' && /^https?:\/\//.test(value) && URL.canParse(value);

function reservationIn(envelope: JsonObject | undefined): JsonObject | undefined {
  const places = envelope ? Object.values(envelope) : [];
  const inner = places.flatMap((value) =>
    isObject(value) ? [value, ...Object.values(value)] : Array.isArray(value) ? value : [],
  );
  return inner.filter(isObject).find((value) => Object.values(value).some(isLink));
}

import { type OperationName, operations } from '../../spec/operations.ts';
import { isObject, valueAt } from '../../util/json.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { HELD_BACK, notePlace, placeOf, reasonOf, type Session } from './check-session.ts';
import { noteShape, noteWaits } from './contents.ts';
import * as evidence from './evidence.ts';
import { envelopeOf, type Found, isMissing, type Reply, type Row, rowsIn } from './evidence.ts';
import { KINDS, type Kind } from './findings.ts';
import { Stop } from './probe.ts';

/** Returns a name that nothing in the account or in the paths of the service has. */
const madeUpName = (): string => `check-${crypto.randomUUID().replaceAll('-', '')}`;

/** The value that a response shows for an operation, and why it confirms the path. */
type Proof<T> = Found<T> & { readonly why: string };

/**
 * Tries the paths of a read until a response proves one, and records the result.
 *
 * @param judge Returns the proof, or what the envelope of a success lacks; `undefined` if the response proves nothing.
 */
async function findPath<T>(
  session: Session,
  name: OperationName,
  send: (path: string) => Promise<Reply>,
  judge: (reply: Reply, path: string) => Promise<Proof<T> | string | undefined>,
): Promise<(Proof<T> & { readonly reply: Reply }) | undefined> {
  const { paths, findings, probe } = session;
  const id = `path:${name}`;
  const assumed = operations[name].path;
  let reason = 'The account has no resource that shows whether this is true.';
  let difference: string | undefined;
  if (!paths.isCallable(name)) return void findings.unclear(id, HELD_BACK);
  for (const path of paths.of(name)) {
    const reply = await send(path);
    const { status, redirect } = reply;
    const proof = await judge(reply, path);
    if (proof && typeof proof !== 'string') {
      const isExpected = path === paths.inEffect(name).path && path === assumed;
      const text = path === assumed ? '' : `${difference ?? ''}\`GET ${path}\` works: `;
      const more = isExpected ? {} : { setting: { operations: { [name]: { path } } } };
      findings.set(id, path === assumed ? 'confirmed' : 'differs', text + proof.why, more);
      paths.works(name, path);
      notePlace(session, name, proof.place);
      return { ...proof, reply };
    }
    const isLikeUnknown = probe.isLikeUnknown(reply);
    // A 404 for one resource does not show that the path is wrong.
    const isOfResource = status === 404 && path.includes('{id}') && !isLikeUnknown;
    const isEmpty = status >= 200 && status < 400 && !envelopeOf(reply);
    const isRefused = !isOfResource && (isMissing(status) || isEmpty);
    if (isRefused || isLikeUnknown) paths.refuse(name, redirect);
    if (path === assumed) {
      reason = reasonOf(reply);
      if (isRefused) difference = `\`GET ${path}\` is refused (${status}). `;
      else if (proof && envelopeOf(reply) && !isLikeUnknown)
        difference = `\`GET ${path}\` responds (${status}) ${proof}. `;
    }
    // The token might lack the permission, or the service blocks the check.
    if ((status !== 401 && status !== 403) || isLikeUnknown) continue;
    await probe.assertResponsive();
    if (path === assumed) break;
  }
  if (difference === undefined) return void findings.unclear(id, reason);
  await probe.assertResponsive();
  return void findings.set(id, 'differs', `${difference}No other path works.`, { breaks: true });
}

/** All reads of a check, except the reads of further pages. */
export async function checkReads(session: Session): Promise<void> {
  const { rows, paths, findings, onProgress } = session;
  onProgress('step', 'Documented reads');
  await checkDocumentedReads(session);
  for (const kind of KINDS) {
    onProgress('step', `Reads of ${kind}`);
    const all = await checkList(session, kind);
    const lookalikes = all.filter((row) => row.is_lookalike === true);
    const others = all.filter((row) => row.is_lookalike !== true);
    rows.set(kind, all);
    // The service might not return a lookalike as an audience.
    const resource = await checkGet(session, `${kind}.get`, kind, others.length > 0 ? others : lookalikes);
    const row = all.find(({ id }) => evidence.isSameId(id, resource?.id));
    if (row && resource) noteWaits(findings, kind, row, resource);
    await checkGet(session, 'lookalikes.get', kind, lookalikes);
  }
  for (const name of [...KINDS, 'lookalikes', 'estimates'].map((kind) => `${kind}.get` as OperationName)) {
    const path = paths.byAnalogy(name);
    if (path === undefined || findings.stateOf(`path:${name}`) !== 'not-checked') continue;
    const isExpected = path === paths.inEffect(name).path;
    findings.set(`path:${name}`, 'likely', 'Inferred from the paths of other resources. The check did not read it.', {
      ...(!isExpected && { setting: { operations: { [name]: { path } } } }),
    });
  }
}

/** The two documented reads prove address, token and envelope. Later, one of them shows whether the service still responds. */
async function checkDocumentedReads(session: Session): Promise<void> {
  const { probe, findings } = session;
  const get = (path: string, query = {}): Promise<Reply> => probe.send({ method: 'GET', path, query });
  const [webhooksPath, usagePath] = [operations['webhooks.list'].path, operations['usage.get'].path];
  const [webhooks, usage] = [await get(webhooksPath), await get(usagePath)];
  const list = rowsIn(envelopeOf(webhooks), placeOf(session, 'webhooks.list'));
  const hasBudget = (value: object): value is { build_budget: unknown } => Object.hasOwn(value, 'build_budget');
  const report = evidence.objectIn(envelopeOf(usage), hasBudget) ?? evidence.objectIn(envelopeOf(usage), isObject);
  if (!list && !report) {
    const statuses = [webhooks.status, usage.status];
    const isDenied = statuses.every((status) => status === 401 || status === 403);
    if (isDenied) throw new Stop('The service refuses the token.', EXIT.authentication);
    const isSilent = statuses.every((status) => status === 0);
    const other = 'Neither documented read responds as documented: something else is probably at this address.';
    throw new Stop(isSilent ? 'The service cannot be reached at this address.' : other, EXIT.unexpected);
  }
  findings.set('service', 'confirmed', 'A documented read succeeds with this token, in the envelope.');
  for (const [name, found, { status }] of [
    ['webhooks.list', list, webhooks],
    ['usage.get', report, usage],
  ] as const) {
    const text = `\`GET ${operations[name].path}\` responds with ${status}, although it is documented.`;
    if (found) findings.set(`path:${name}`, 'confirmed', 'Responds as documented.');
    else if (isMissing(status)) findings.set(`path:${name}`, 'differs', text, { breaks: true });
    else findings.unclear(`path:${name}`, text);
    if (found) notePlace(session, name, found.place);
  }
  probe.trial = list ? webhooksPath : usagePath;
  probe.unknown = await get(`/api/v2/${madeUpName()}/index`);
  if (list) noteShape(findings, 'webhooks', 'list', list.value);
  if (!report) return;
  const { hour, day } = Object(report.value.build_budget);
  const isBudget = [hour, day].every((window) => Number.isInteger(window?.limit) && Number.isInteger(window?.used));
  const text = `\`build_budget\` of the report ${isBudget ? 'has' : 'must have'} \`limit\` and \`used\`, by \`hour\` and \`day\`.`;
  findings.set('usage.build_budget', isBudget ? 'confirmed' : 'differs', text);
  const month = new Date(probe.now);
  month.setUTCMonth(month.getUTCMonth() - 1, 1);
  const past = await get(usagePath, { yearmonth: month.toISOString().slice(0, 7) });
  if (envelopeOf(past)) findings.set('usage.yearmonth', 'confirmed', 'A past month as YYYY-MM succeeds.');
  else if ([400, 404, 422].includes(past.status))
    findings.set('usage.yearmonth', 'differs', 'The service refuses a past month in the form YYYY-MM.');
}

/** A list, by rows with the fields of their kind. */
async function checkList(session: Session, kind: Kind): Promise<readonly Row[]> {
  const { findings, probe } = session;
  const name = `${kind}.list` as const;
  const send = (path: string): Promise<Reply> => probe.send({ method: 'GET', path });
  const found = await findPath(session, name, send, async (reply, path) => {
    const list = rowsIn(envelopeOf(reply), placeOf(session, name));
    if (!list) return 'without rows that have an `id`, at a place that the check knows';
    if (list.value.length > 0 && !list.value.every((row) => evidence.fits(kind, row)))
      return 'with rows of another kind';
    if (list.value.length > 0) return { ...list, why: 'A list of rows with ids and fields of this kind.' };
    // Some services return an empty list for every path.
    const isUsual =
      rowsIn(envelopeOf(probe.unknown)) ?? rowsIn(envelopeOf(await send(path.replace(/[^/]+$/, madeUpName()))));
    return isUsual
      ? undefined
      : { ...list, why: 'The list is empty, and the service refuses a made-up path beside it.' };
  });
  if (!found) return [];
  if (evidence.isCamelCased(envelopeOf(found.reply)))
    findings.set('fields', 'differs', 'The fields of resources are in camelCase: a function must rename them.');
  if (found.value.length > 0) noteShape(findings, kind, 'list', found.value);
  return found.value;
}

/** A single resource, by the ids of the list: the second one if the first is gone. */
async function checkGet(session: Session, name: OperationName, kind: Kind, rows: readonly Row[]) {
  const { probe, findings } = session;
  const [first, second] = rows;
  if (!first) return undefined;
  let { id } = first;
  const send = async (path: string): Promise<Reply> => {
    id = first.id;
    const reply = await probe.send({ method: 'GET', path, id });
    if (!isMissing(reply.status) || !second || probe.isLikeUnknown(reply)) return reply;
    id = second.id;
    return probe.send({ method: 'GET', path, id });
  };
  const found = await findPath(session, name, send, async (reply) => {
    const resource = evidence.resourceIn(envelopeOf(reply), id, placeOf(session, name));
    const isRight = resource !== undefined && evidence.fits(kind, resource.value);
    return isRight ? { ...resource, why: 'The response has the id of a row of the list.' } : 'without the resource';
  });
  const data = found && evidence.snakeCased(valueAt(found.reply.body, found.place.split('.')));
  if (found) noteShape(findings, kind, 'get', data);
  return found?.value;
}

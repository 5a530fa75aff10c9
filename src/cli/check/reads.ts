import { type OperationName, operations } from '../../spec/operations.ts';
import type { JsonObject } from '../../spec/wire-values.ts';
import { EXIT } from '../terminal/exit-codes.ts';
import { HELD_BACK, notePlace, placeOf, reasonOf, type Session } from './check-session.ts';
import { noteShape, noteWaits } from './contents.ts';
import { type Found, fits, isMissing, objectIn, type Reply, resourceIn, rowsIn } from './evidence.ts';
import { KINDS, type Kind, UNSEEN } from './findings.ts';
import { Stop } from './probe.ts';

/** Returns a random name that neither the account nor the paths of the service contain. */
const madeUpName = (): string => `check-${crypto.randomUUID().replaceAll('-', '')}`;

/** The payload that a response contains, and why the response confirms the path. */
type Proof<T> = Found<T> & { readonly why: string };

/**
 * Tries the paths of a read operation until a response confirms a path. Records the result.
 *
 * @param judge Returns the proof, or a text about what the envelope lacks, or `undefined` if the response proves
 * nothing.
 */
async function findPath<T>(
  session: Session,
  name: OperationName,
  send: (path: string) => Promise<Reply>,
  judge: (reply: Reply, path: string) => Promise<Proof<T> | string | undefined>,
): Promise<T | undefined> {
  const { paths, findings, probe } = session;
  const id = `path:${name}`;
  const { path: inEffect } = paths.inEffect(name);
  let reason = UNSEEN;
  let difference = '';
  if (!paths.isCallable(name)) return void findings.unclear(id, HELD_BACK);
  for (const path of paths.of(name)) {
    const reply = await send(path);
    const { status, envelope } = reply;
    const proof = await judge(reply, path);
    if (typeof proof === 'object') {
      const isAssumed = path === operations[name].path && difference === '';
      notePath(
        session,
        name,
        path,
        `${isAssumed ? '' : `${difference}\`GET ${path}\` works: `}${proof.why}`,
        proof.place,
      );
      paths.works(name, path);
      return proof.value;
    }
    const isLikeUnknown = probe.isLikeUnknown(reply);
    const isRedirect = status >= 300 && status < 400;
    paths.redirected = isRedirect && !path.endsWith('/') ? `${path}/` : undefined;
    // Either the token lacks the permission, or the service blocks the check.
    if ((status === 401 || status === 403) && !isLikeUnknown) await probe.assertResponsive();
    if (path !== inEffect) continue;
    reason = reasonOf(reply);
    // A 404 for one resource is no evidence that the path is wrong.
    const isOfResource = status === 404 && path.includes('{id}') && !isLikeUnknown;
    if (!isOfResource && (isMissing(status) || (status >= 200 && status < 400 && !envelope)))
      difference = `\`GET ${path}\` returns ${status}${isMissing(status) ? '' : ' without an envelope'}. `;
    else if (isLikeUnknown || isOfResource) continue;
    else if (!envelope) break;
    else if (proof) difference = `\`GET ${path}\` returns ${status} ${proof}. `;
  }
  if (difference === '') return void findings.unclear(id, reason);
  await probe.assertResponsive();
  return void findings.set(id, 'differs', `${difference}None of the other paths that the check tried works.`, {
    breaks: true,
  });
}

/** Records that a path is right, and the envelope path of the payload. */
function notePath(session: Session, name: OperationName, path: string, evidence: string, place: string): void {
  const known = [operations[name].path, session.paths.inEffect(name).path];
  session.findings.prove(`path:${name}`, path, known, evidence, { operations: { [name]: { path } } });
  notePlace(session, name, place);
}

/** Sends the reads of a check, except the reads of further pages and of the created project. */
export async function checkReads(session: Session): Promise<void> {
  const { rows, findings, probe } = session;
  probe.report('step', 'Documented reads');
  await checkDocumentedReads(session);
  for (const kind of KINDS) {
    probe.report('step', `Reads of ${kind}`);
    const all = await checkList(session, kind);
    const lookalikes = all.filter((row) => row.is_lookalike === true);
    const others = all.filter((row) => row.is_lookalike !== true);
    rows.set(kind, all);
    // Prefer other audiences: the service might not return a lookalike as an audience.
    const resource = await checkGet(session, `${kind}.get`, kind, others.length > 0 ? others : lookalikes);
    const row = resource && all.find(({ id }) => String(id) === String(resource.id));
    if (row) noteWaits(findings, kind, row, resource);
    await checkGet(session, 'lookalikes.get', kind, lookalikes);
  }
}

/** Checks the two documented reads, which confirm the address, the token and the envelope. */
async function checkDocumentedReads(session: Session): Promise<void> {
  const { probe, findings, paths } = session;
  const pathOf = (name: OperationName): string =>
    (paths.isCallable(name) ? paths.inEffect(name) : operations[name]).path;
  const [webhooksPath, usagePath] = [pathOf('webhooks.list'), pathOf('usage.get')];
  const [webhooks, usage] = [await probe.get(webhooksPath), await probe.get(usagePath)];
  const list = rowsIn(webhooks.envelope, placeOf(session, 'webhooks.list'));
  const report =
    objectIn(usage.envelope, (value) => Object.hasOwn(value, 'build_budget')) ?? objectIn(usage.envelope, () => true);
  if (!list && !report) {
    const statuses = [webhooks.status, usage.status];
    const isDenied = statuses.every((status) => status === 401 || status === 403);
    if (isDenied) throw new Stop('The service refuses the token.', EXIT.authentication);
    const isSilent = statuses.every((status) => status === 0);
    const other =
      'Neither documented read returns the documented response: another service is probably at this address.';
    throw new Stop(
      isSilent ? 'The check could not reach the service: check its address and the connection.' : other,
      EXIT.unexpected,
    );
  }
  findings.set('service', 'confirmed', 'A documented read succeeds with this token, and its response is an envelope.');
  const note = (name: OperationName, found: Found<unknown> | undefined, { status }: Reply): void => {
    const path = pathOf(name);
    const text = `\`GET ${path}\` returns ${status}.`;
    if (found) notePath(session, name, path, 'The response is as documented.', found.place);
    else if (isMissing(status)) findings.set(`path:${name}`, 'differs', text, { breaks: true });
    else findings.unclear(`path:${name}`, text);
  };
  note('webhooks.list', list, webhooks);
  note('usage.get', report, usage);
  probe.trial = list ? webhooksPath : usagePath;
  probe.unknown = await probe.get(`/api/v2/${madeUpName()}/index`);
  if (list) await noteShape(findings, 'webhooks', 'list', list.value);
  if (!report) return;
  const { hour, day } = Object(report.value.build_budget);
  const isBudget = [hour, day].every((window) => Number.isInteger(window?.limit) && Number.isInteger(window?.used));
  const text = isBudget
    ? '`build_budget` of the report has `limit` and `used` in `hour` and `day`.'
    : '`build_budget` of the report lacks an integer `limit` or `used` in `hour` or `day`.';
  findings.set('usage.build_budget', isBudget ? 'confirmed' : 'differs', text);
  const month = new Date(probe.now);
  month.setUTCMonth(month.getUTCMonth() - 1, 1);
  const past = await probe.get(usagePath, { query: { yearmonth: month.toISOString().slice(0, 7) } });
  if (past.envelope)
    findings.set('usage.yearmonth', 'confirmed', 'The service accepts a past month in the form YYYY-MM.');
  else if ([400, 404, 422].includes(past.status))
    findings.set('usage.yearmonth', 'differs', 'The service refuses a past month in the form YYYY-MM.');
}

/** Checks the list of a kind. Its rows must have the fields of this kind. */
async function checkList(session: Session, kind: Kind): Promise<readonly JsonObject[]> {
  const { findings, probe } = session;
  const name = `${kind}.list` as const;
  let isCamelCased = false;
  const judge = async ({ envelope }: Reply, path: string) => {
    const list = rowsIn(envelope, placeOf(session, name));
    if (!list) return 'without rows that have an `id` at a place that the check knows';
    isCamelCased = /"(?:created|updated)At":/.test(JSON.stringify(envelope));
    if (!list.value.every((row) => fits(kind, row))) return 'with rows of another kind';
    if (list.value.length > 0)
      return { ...list, why: 'The response is a list of rows with the ids and fields of this kind.' };
    // Some services return an empty list for every path.
    const beside = async () => probe.get(path.replace(/[^/]+$/, madeUpName()));
    const isUsual = rowsIn(probe.unknown?.envelope) ?? rowsIn((await beside()).envelope);
    const why = 'The list is empty, and a similar made-up path returns no list.';
    return isUsual ? undefined : { ...list, why };
  };
  const rows = (await findPath(session, name, (path) => probe.get(path), judge)) ?? [];
  if (isCamelCased && rows.length > 0)
    findings.set('fields', 'differs', 'The fields of resources are in camelCase: an override must rename the fields.');
  if (rows.length > 0) await noteShape(findings, kind, 'list', rows);
  return rows;
}

/**
 * Checks the read of a single resource with ids from the list: with the second id if the first resource no longer
 * exists.
 */
async function checkGet(
  session: Session,
  name: OperationName,
  kind: Kind,
  rows: readonly JsonObject[],
): Promise<JsonObject | undefined> {
  const { probe, findings } = session;
  const [first, second] = rows.map(({ id }) => String(id));
  if (first === undefined) return undefined;
  let id = first;
  const send = async (path: string): Promise<Reply> => {
    id = first;
    const reply = await probe.get(path, { id });
    if (!isMissing(reply.status) || second === undefined || probe.isLikeUnknown(reply)) return reply;
    id = second;
    return probe.get(path, { id });
  };
  const resource = await findPath(session, name, send, async ({ envelope }) => {
    const found = resourceIn(envelope, id, placeOf(session, name));
    const why = 'The response has the id of a row in the list.';
    return found && fits(kind, found.value) ? { ...found, why } : 'without the resource';
  });
  if (resource) await noteShape(findings, kind, 'get', resource);
  return resource;
}

import type { ServiceContract } from '../../spec/contract.ts';
import { type OperationName, operations } from '../../spec/operations.ts';
import { isObject, valueAt } from '../../util/json.ts';
import {
  envelopeOf,
  type Found,
  fits,
  invalidFields,
  isCamelCased,
  isErrorEnvelope,
  isMissing,
  type Reply,
  type Row,
  reportIn,
  resourceIn,
  rowsIn,
  snakeCased,
} from './evidence.ts';
import { type Findings, KINDS, type Kind } from './findings.ts';
import type { Paths } from './paths.ts';
import { type Probe, STOPPED, Stop } from './probe.ts';
import type { Payload } from './shapes.ts';

/** State that the steps of a check share. */
export interface Session {
  readonly probe: Probe;
  readonly findings: Findings;
  readonly paths: Paths;
  /** The contract in effect, whose ways are tried first. */
  readonly expected: ServiceContract;
  /** Payloads that the client would decode. */
  readonly payloads: Payload[];
  /** Rows of the lists that work. */
  readonly rows: Map<Kind, readonly Row[]>;
  /** Resources that were read one by one. */
  readonly resources: Map<Kind, Row>;
  onStep(text: string): void;
  /** A project of the check may be left. */
  onLeft(name: string): void;
}

/** Why an operation is not sent at the path of a contract. */
export const HELD_BACK = 'The check does not send the request of the contract, because it could change the account.';

/** Returns a name that nothing in the account or in the paths of the service has. */
const madeUpName = (): string => `check-${crypto.randomUUID().replaceAll('-', '')}`;

/** Returns where the client reads the payload of an operation. */
export const placeOf = ({ expected }: Session, name: OperationName): string =>
  expected.operations?.[name]?.data ?? 'data';

const requestOf = (name: OperationName): string => `\`${operations[name].method} ${operations[name].path}\``;

/** Sends a read. */
export const read = ({ probe }: Session, path: string, why: string, more: object = {}): Promise<Reply> =>
  probe.send({ method: 'GET', path, why, ...more });

/** How the path of a read is searched. */
interface Search<T> {
  send(path: string): Promise<Reply>;
  /** Returns what a response shows and where, or `undefined` if it does not belong to the operation. */
  judge(reply: Reply, path: string): Found<T> | undefined | Promise<Found<T> | undefined>;
  /** Why the response confirms the path. */
  evidence(value: T): string;
  /** Returns what the envelope of a success lacks; `undefined` if that proves nothing. */
  lack(reply: Reply): string | undefined;
}

/** Tries the paths of a read until a response shows what is searched, and notes the result. */
async function findPath<T>(
  session: Session,
  name: OperationName,
  { send, judge, evidence, lack }: Search<T>,
): Promise<(Found<T> & { readonly reply: Reply }) | undefined> {
  const { paths, findings, probe } = session;
  const id = `path:${name}`;
  let assumed: Reply | undefined;
  let difference: string | undefined;
  if (!paths.isCallable(name)) {
    findings.unclear(id, HELD_BACK);
    return undefined;
  }
  for (const path of paths.of(name)) {
    const reply = await send(path);
    const found = await judge(reply, path);
    if (found) {
      notePath(session, name, path, evidence(found.value), assumed);
      notePlace(session, name, found);
      return { ...found, reply };
    }
    const refusal = refusalOf(session, reply, path);
    const lacking = envelopeOf(reply) && !probe.isLikeUnknown(reply) ? lack(reply) : undefined;
    if (refusal) paths.miss();
    if (path === operations[name].path) {
      assumed = reply;
      if (refusal === 'missing') difference = refusalText(reply);
      else if (lacking !== undefined) difference = `responds (${reply.status}) ${lacking}`;
    }
    paths.redirect(name, reply.redirect);
  }
  if (difference !== undefined) {
    await probe.assertResponsive();
    findings.set(id, 'differs', `${requestOf(name)} ${difference}, and no other path works.`, { breaks: true });
  } else findings.unclear(id, assumed ? reasonOf(assumed) : 'No resource of the account shows it.');
  return undefined;
}

/** Returns the predicate of a sentence about a refused request. */
function refusalText({ status }: Reply): string {
  if (isMissing(status)) return `is refused (${status})`;
  return status >= 300 ? `is redirected (${status})` : `responds (${status}) without the envelope`;
}

/**
 * Returns what a response without the searched content says of a path: it does not exist; or the same as for paths that
 * do not exist, which proves nothing. `undefined` if it belongs to something else, or shows nothing.
 */
function refusalOf({ probe }: Session, reply: Reply, path: string): 'missing' | 'denied' | undefined {
  const { status } = reply;
  const isLikeUnknown = probe.isLikeUnknown(reply);
  // The 404 of a resource says nothing of the path.
  if (status === 404 && path.includes('{id}') && !isLikeUnknown) return undefined;
  if (isMissing(status) || (status >= 300 && status < 400)) return 'missing';
  if (status > 0 && status < 500 && isLikeUnknown) return 'denied';
  return status >= 200 && status < 400 && !envelopeOf(reply) ? 'missing' : undefined;
}

/** Returns why a response shows nothing about a path. */
export function reasonOf(reply: Reply): string {
  const { status } = reply;
  if (status === 0) return 'No response.';
  if (status === 401 || status === 403)
    return `The token is not permitted to use it, or the path does not exist (${status}).`;
  if (status >= 500) return `The service failed (${status}).`;
  if (isMissing(status)) return 'The ids of the list are gone.';
  if (envelopeOf(reply)) return 'The response contains nothing that belongs to this operation.';
  return `Refused with ${status}.`;
}

/** Notes the path by which a read works. */
function notePath({ findings, paths }: Session, name: OperationName, path: string, evidence: string, assumed?: Reply) {
  const setting: ServiceContract = { operations: { [name]: { path } } };
  const isExpected = path === paths.inEffect(name).path;
  paths.works(name, path);
  if (path === operations[name].path)
    return findings.set(`path:${name}`, 'confirmed', evidence, isExpected ? {} : { setting });
  const works = `\`GET ${path}\` works: ${evidence.charAt(0).toLowerCase()}${evidence.slice(1)}`;
  const text = assumed ? `${requestOf(name)} ${refusalText(assumed)}; ${works}` : works;
  return findings.set(`path:${name}`, 'differs', text, { setting });
}

/** Notes where the payload of an operation is. */
function notePlace(session: Session, name: OperationName, { place }: Found<unknown>): void {
  if (place === 'data' && placeOf(session, name) === 'data') return;
  const setting: ServiceContract = { operations: { [name]: { data: place } } };
  const state = place === 'data' ? 'confirmed' : 'differs';
  session.findings.set(`data:${name}`, state, `The payload is at \`${place}\` of the response.`, { setting });
}

/** All reads of a check, except the reads of further pages. */
export async function checkReads(session: Session): Promise<void> {
  await checkDocumentedReads(session);
  await checkUsage(session);
  for (const kind of KINDS) await checkList(session, kind);
  for (const kind of KINDS) {
    // A lookalike may not be readable as an audience.
    const rows = session.rows.get(kind) ?? [];
    const plain = rows.filter(({ is_lookalike }) => is_lookalike !== true);
    const resource = await checkGet(session, `${kind}.get`, kind, plain.length > 0 ? plain : rows);
    if (resource) session.resources.set(kind, resource);
  }
  const lookalikes = (session.rows.get('audiences') ?? []).filter(({ is_lookalike }) => is_lookalike === true);
  await checkGet(session, 'lookalikes.get', 'audiences', lookalikes);
  for (const name of [...KINDS, 'lookalikes', 'estimates'].map((kind) => `${kind}.get` as OperationName)) {
    const path = session.paths.byAnalogy(name);
    if (path === undefined || session.findings.stateOf(`path:${name}`) !== 'not-checked') continue;
    const isNews = path !== operations[name].path && session.expected.operations?.[name]?.path === undefined;
    const more = isNews ? { setting: { operations: { [name]: { path } } } } : {};
    session.findings.set(
      `path:${name}`,
      'likely',
      'Inferred from the paths of other resources. The check did not read it.',
      more,
    );
  }
}

/** The two documented reads prove address, token and envelope. Later, one of them shows whether the service still responds. */
async function checkDocumentedReads(session: Session): Promise<void> {
  const { probe, findings } = session;
  const [webhooksPath, usagePath] = [operations['webhooks.list'].path, operations['usage.get'].path];
  const webhooks = await read(session, webhooksPath, 'documented read');
  const usage = await read(session, usagePath, 'documented read');
  const list = rowsIn(envelopeOf(webhooks), placeOf(session, 'webhooks.list'));
  const report = reportIn(envelopeOf(usage));
  if (!list && !report) throw stopAfter([webhooks, usage]);
  findings.set('service', 'confirmed', 'A documented read succeeds with this token, in the envelope.');
  noteDocumented(session, 'webhooks.list', webhooks, list);
  noteDocumented(session, 'usage.get', usage, report);
  if (list) session.payloads.push({ namespace: 'webhooks', data: list.value, verb: 'list' });
  if (report) noteBudget(session, report.value.build_budget);
  const why = 'a path that does not exist, to compare refusals';
  probe.unknown = await read(session, `/api/v2/${madeUpName()}/index`, why);
  probe.trial = { method: 'GET', path: list ? webhooksPath : usagePath, why: 'does the service still respond?' };
}

function stopAfter(replies: readonly Reply[]): Stop {
  if (replies.every(({ status }) => status === 401 || status === 403))
    return new Stop('The service refuses the token.', STOPPED.authentication);
  const isSilent = replies.every(({ status }) => status === 0);
  const other =
    'Neither of the two documented reads responds as documented: something else is probably at this address.';
  return new Stop(isSilent ? 'The service cannot be reached at this address.' : other, STOPPED.unexpected);
}

function noteDocumented(session: Session, name: OperationName, reply: Reply, found: Found<unknown> | undefined): void {
  const { findings, paths } = session;
  const id = `path:${name}`;
  if (found || invalidFields(reply).includes('yearmonth')) {
    findings.set(id, 'confirmed', found ? 'Responds as documented.' : 'A 422 names the month, which is missing.');
    paths.works(name, operations[name].path);
    if (found) notePlace(session, name, found);
  } else if (isMissing(reply.status))
    findings.set(id, 'differs', `Refused with ${reply.status}, although it is documented.`, { breaks: true });
  else findings.unclear(id, reasonOf(reply));
}

const WINDOW = "{ limit: complete('limit'), used: complete('used') }";
const BUDGET = `data: (usage) => ({ ...Object(usage), build_budget: { hour: ${WINDOW}, day: ${WINDOW} } })`;

/** Notes whether a build budget has the assumed fields. */
function noteBudget({ findings }: Session, budget: unknown): void {
  const isWindow = (value: unknown): boolean =>
    isObject(value) && Number.isInteger(value.limit) && Number.isInteger(value.used);
  const id = 'usage.build_budget';
  const codes = [{ operation: 'usage.get', members: BUDGET }] as const;
  if (isObject(budget) && isWindow(budget.hour) && isWindow(budget.day))
    findings.set(id, 'confirmed', '`hour` and `day` have `limit` and `used`.');
  else if (budget === undefined) findings.set(id, 'differs', 'The report has no `build_budget`.', { codes });
  else findings.set(id, 'differs', '`hour` and `day`, each with `limit` and `used`, are missing.', { codes });
}

const MONTH = "query: ({ yearmonth, ...query }) => ({ ...query, yearmonth: complete('yearmonth') })";

/** The usage report of a month: its format, and the error of a wrong one. */
async function checkUsage(session: Session): Promise<void> {
  const { probe, findings, paths, onStep } = session;
  const id = 'usage.yearmonth';
  const path = paths.working('usage.get');
  if (path === undefined) return;
  onStep('Usage report');
  const ask = (shift: number, why: string): Promise<Reply> => {
    const date = new Date(probe.now);
    date.setUTCMonth(date.getUTCMonth() + shift, 1);
    return read(session, path, why, { query: { yearmonth: date.toISOString().slice(0, 7) } });
  };
  const isRefusal = ({ status }: Reply): boolean => status === 400 || status === 404 || status === 422;
  const past = await ask(-1, 'a past month');
  if (!isRefusal(past) && !envelopeOf(past)) return findings.unclear(id, reasonOf(past));
  const refused = isRefusal(past) ? past : await ask(2, 'a future month');
  if (envelopeOf(refused)) return findings.unclear(id, 'A future month succeeds: the parameter may be ignored.');
  if (!isRefusal(refused)) return findings.unclear(id, reasonOf(refused));
  if (refused === past) {
    await probe.assertResponsive();
    const codes = [{ operation: 'usage.get', members: MONTH }] as const;
    findings.set(id, 'differs', 'The service refuses a past month in the form YYYY-MM.', { codes });
  } else findings.set(id, 'confirmed', 'A past month as YYYY-MM succeeds, a future one is refused.');
  if (isErrorEnvelope(refused) && invalidFields(refused).length > 0)
    findings.set('errors.422', 'confirmed', 'A refused month gets 422, and `errors` names the parameter.');
  else findings.set('errors.422', 'differs', `A refused month gets ${refused.status} without \`errors\` that name it.`);
}

/** A list, by rows with the fields of their kind. */
async function checkList(session: Session, kind: Kind): Promise<void> {
  const name = `${kind}.list` as const;
  session.onStep(`List of ${kind}`);
  const rowsOf = (reply: Reply): Found<readonly Row[]> | undefined => rowsIn(envelopeOf(reply), placeOf(session, name));
  const found = await findPath(session, name, {
    send: (path) => read(session, path, `list of ${kind}`),
    async judge(reply, path) {
      const list = rowsOf(reply);
      const isRight = list?.value.length ? list.value.every((row) => fits(kind, row)) : await isEmpty(path, list);
      return isRight ? list : undefined;
    },
    evidence: ({ length }) =>
      length === 0
        ? 'The list is empty, and the service refuses a made-up path beside it.'
        : 'A list of rows with ids and fields of this kind.',
    lack(reply) {
      const list = rowsOf(reply);
      if (list) return list.value.length > 0 ? 'with rows of another kind' : undefined;
      return 'without rows that have an `id`, at a place that the check knows';
    },
  });
  /** An empty list counts if a made-up path beside it is refused: some services respond so to every path. */
  async function isEmpty(path: string, list: Found<unknown> | undefined): Promise<boolean> {
    if (!list || rowsIn(envelopeOf(session.probe.unknown))) return false;
    const beside = path.replace(/[^/]+$/, madeUpName());
    return !rowsIn(envelopeOf(await read(session, beside, 'a made-up path beside an empty list')));
  }
  if (!found) return;
  session.rows.set(kind, found.value);
  if (isCamelCased(envelopeOf(found.reply))) noteCamelCase(session);
  if (found.value.length > 0) session.payloads.push({ namespace: kind, data: found.value, verb: 'list' });
}

/** Function of the code that names fields as the package does. */
export const SNAKE_CASED = 'data: snakeCased';

function noteCamelCase({ findings }: Session): void {
  const verbs = [...KINDS, 'lookalikes'].flatMap((kind) => ['list', 'get', 'create'].map((verb) => `${kind}.${verb}`));
  const names = verbs.filter((name) => Object.hasOwn(operations, name)) as OperationName[]; // names of the table
  const codes = names.map((operation) => ({ operation, members: SNAKE_CASED }));
  findings.set('fields', 'differs', 'The fields of resources are in camelCase: the code renames them.', { codes });
}

/** A single resource, by the ids of the list: the second one if the first is gone. */
async function checkGet(
  session: Session,
  name: OperationName,
  kind: Kind,
  [first, second]: readonly Row[],
): Promise<Row | undefined> {
  if (!first) return undefined;
  session.onStep(`One of ${kind}`);
  let { id } = first;
  const at = placeOf(session, name);
  const found = await findPath(session, name, {
    async send(path) {
      id = first.id;
      const reply = await read(session, path, `one of ${kind}`, { id });
      if (!isMissing(reply.status) || !second || session.probe.isLikeUnknown(reply)) return reply;
      id = second.id;
      return read(session, path, `another one of ${kind}`, { id });
    },
    judge(reply) {
      const resource = resourceIn(envelopeOf(reply), id, at);
      return resource && fits(kind, resource.value) ? resource : undefined;
    },
    evidence: () => 'The response has the id of a row of the list.',
    lack: (reply) => (rowsIn(envelopeOf(reply))?.value.length ? 'with another resource' : 'without the resource'),
  });
  if (!found) return undefined;
  const data = snakeCased(valueAt(found.reply.body, found.place.split('.')));
  session.payloads.push({ namespace: kind, data, verb: 'get' });
  return found.value;
}

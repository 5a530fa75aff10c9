import type { Method, OperationName } from '../spec/operations.ts';
import { operations } from '../spec/operations.ts';
import { isObject, type JsonObject, parseJson } from '../util/json.ts';
import { actionOf, type Candidate } from './candidates.ts';
import { changeOf, madeUpName, type Session } from './check-session.ts';
import { KINDS } from './evidence.ts';
import { JUDGED } from './findings.ts';

/** Where services publish their OpenAPI document. */
const DOCUMENTS: readonly string[] = ['/openapi.json', '/api/v2/openapi.json'];

/** Reads the OpenAPI document, if the service publishes one. */
export async function readDocument(session: Session): Promise<void> {
  const { probe } = session;
  session.onStep('OpenAPI document');
  for (const path of DOCUMENTS) {
    const reply = await probe.send({ method: 'GET', path, token: 'none', why: 'an OpenAPI document' });
    if (isObject(reply.body) && isObject(reply.body.paths)) {
      publishDocument(session, reply.body);
      return;
    }
  }
}

/** Adds the operations of an OpenAPI document to the candidates. */
function publishDocument(session: Session, { servers, paths }: JsonObject): void {
  const [server] = Array.isArray(servers) ? servers : [];
  const url = isObject(server) && typeof server.url === 'string' ? server.url : '/';
  const prefix = URL.canParse(url, 'http://localhost')
    ? new URL(url, 'http://localhost').pathname.replace(/\/+$/, '')
    : '';
  const base = session.basePath;
  for (const [path, methods] of Object.entries(isObject(paths) ? paths : {})) {
    for (const [verb, operation] of Object.entries(isObject(methods) ? methods : {})) {
      const full = `${prefix}${path}`;
      const method = METHODS.find((name) => name === verb.toUpperCase());
      const own = full.startsWith(`${base}/`) ? full.slice(base.length) : full;
      const name = isObject(operation) && typeof operation.operationId === 'string' ? operation.operationId : '';
      if (method) publish(session, method, own, name);
    }
  }
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const VERBS: readonly (readonly [RegExp, string])[] = [
  [/^(?:delete|destroy|remove)$/, 'delete'],
  [/^(?:create|store|add|new|build|start)$/, 'create'],
  [/^(?:reserve|presign|presigned|presigned-url)$/, 'reserve'],
  [/^(?:list|index|all|search)$/, 'list'],
  [/^(?:get|show|read|view|fetch|find|details)$/, 'get'],
];

/** Adds a published operation to the candidates of the one that it is. */
function publish({ candidates }: Session, method: Method, path: string, label: string): void {
  if (!path.startsWith('/') || /\s/.test(path)) return;
  const params = [...path.matchAll(/\{[^}]*\}/g)];
  if (params.length > 1) return;
  const template = path.replace(/\{[^}]*\}|:\w+/, '{id}');
  const name = nameOf(method, template, label);
  if (name) candidates.publish(name, method, template);
}

/** Returns the operation that a published one is, by its path or its name. */
function nameOf(method: Method, path: string, label: string): OperationName | undefined {
  const words = `${path.replace(/\{id\}/g, '')}`
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
  const labels = label
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
  const hasId = path.includes('{id}');
  const verbOf = (texts: readonly string[]): string | undefined =>
    VERBS.find(([pattern]) => texts.some((text) => pattern.test(text)))?.[1];
  const byMethod =
    method === 'DELETE' ? 'delete' : method === 'GET' ? (hasId ? 'get' : 'list') : hasId ? undefined : 'create';
  // The method decides about reads: a GET with an id is one of a resource, whatever its words are.
  const action = method === 'GET' || method === 'DELETE' ? byMethod : (verbOf(words) ?? verbOf(labels) ?? byMethod);
  const isAt = (texts: readonly string[], plural: string): boolean =>
    texts.includes(plural) || texts.includes(plural.replace(/s$/, ''));
  const resource = (texts: readonly string[]): string | undefined => NAMESPACES.find((plural) => isAt(texts, plural));
  const plural = resource(words) ?? resource(labels);
  if (!plural || words.some((word) => word === 'cancel')) return undefined;
  return JUDGED.find(
    (name) => name === `${plural}.${plural === 'uploads' && action === 'create' ? 'reserve' : action}`,
  );
}

const NAMESPACES: readonly string[] = [
  'lookalikes',
  'estimates',
  'uploads',
  'activations',
  'audiences',
  'cohorts',
  'projects',
  'schedules',
];

/** Adds the operations of tools of the MCP endpoint, where a description names method and path. */
export function publishTools(session: Session, tools: readonly unknown[]): void {
  for (const tool of tools) {
    if (!isObject(tool) || typeof tool.name !== 'string') continue;
    const text = typeof tool.description === 'string' ? tool.description : '';
    const [, verb = '', path = ''] = /\b(GET|POST|PUT|PATCH|DELETE)\s+(\/[\w{}:/.-]+)/.exec(text) ?? [];
    const method = METHODS.find((name) => name === verb);
    if (method) publish(session, method, path.replace(/[.]+$/, ''), tool.name);
  }
}

/** Asks by OPTIONS which methods the paths of writes allow, if the service says it. */
export async function checkOptions(session: Session): Promise<void> {
  const { probe, findings, candidates, working } = session;
  const list = KINDS.map((kind) => working.get(`${kind}.list`)).find((candidate) => candidate !== undefined);
  if (!list) return;
  session.onStep('Methods of write paths');
  const allowed = async (path: string, why: string): Promise<readonly string[] | undefined> => {
    const reply = await probe.send({ method: 'OPTIONS', path, id: 0, why });
    const allow = reply.headers.get('allow');
    return reply.status >= 400 || allow === null ? undefined : allow.toUpperCase().split(/\s*,\s*/);
  };
  const existing = await allowed(list.path, 'the methods of a path that works');
  if (!existing?.includes('GET')) return;
  const madeUp = await allowed(`/api/v2/${madeUpName()}/index`, 'the methods of a path that does not exist');
  if (madeUp && `${madeUp}` === `${existing}`) return;
  for (const name of JUDGED) {
    if (operations[name].method === 'GET' || findings.stateOf(`path:${name}`) !== 'not-checked') continue;
    for (const candidate of candidates.of(name)) {
      if (candidate.idField || (candidate.source === 'guess' && session.misses >= session.maxMisses)) break;
      const methods = await allowed(candidate.path, `the methods of ${name}`);
      const isAllowed = methods?.includes(candidate.method);
      if (isAllowed) {
        candidates.learn(name, candidate);
        noteLikely(session, name, candidate, 'OPTIONS allows it, and not for a made-up path.');
        break;
      }
      session.misses++;
    }
  }
}

/** Notes paths that are published, or follow from those of other resources. */
export function noteAnalogies(session: Session): void {
  const { findings, candidates, working } = session;
  for (const name of JUDGED) {
    if (findings.stateOf(`path:${name}`) !== 'not-checked' || working.has(name)) continue;
    const published = candidates.publishedFor(name);
    const analogy = candidates.analogyFor(name);
    if (published) noteLikely(session, name, published, 'The service publishes it; it was not called.');
    else if (analogy)
      noteLikely(session, name, analogy, 'Follows from the paths of other resources; it was not called.');
  }
  for (const name of JUDGED) notePlaceByAnalogy(session, name);
}

function noteLikely({ findings }: Session, name: OperationName, candidate: Candidate, evidence: string): void {
  const change = changeOf(name, candidate);
  if (Object.keys(change).length === 0) findings.set(`path:${name}`, 'likely', evidence);
  else {
    findings.set(`path:${name}`, 'likely', evidence, change);
    findings.override(name, change);
  }
}

/** Adds the place of a payload that was not seen, if all others of the same action have it elsewhere. */
function notePlaceByAnalogy({ findings, working, candidates }: Session, name: OperationName): void {
  const overrides = findings.contract.operations;
  const action = actionOf(name);
  if (working.has(name) || action === 'reserve' || action === undefined || !candidates.analogyFor(name)) return;
  const others = [...working.keys()].filter(
    (other) => actionOf(other) === action && !/^(?:usage|webhooks)\./.test(other),
  );
  const places = new Set(others.map((other) => overrides?.[other]?.data));
  const [place] = places;
  if (places.size === 1 && place !== undefined) findings.override(name, { data: place });
}

/** Returns the messages of a response of the MCP endpoint: JSON, or an event stream. */
export function messagesIn(text: string): readonly JsonObject[] {
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  const bodies =
    lines.length > 0 ? lines.map((line) => parseJson(line.slice('data:'.length).trim())) : [parseJson(text)];
  return bodies.filter(isObject);
}

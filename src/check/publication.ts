import type { Method, OperationName } from '../spec/operations.ts';
import { operations } from '../spec/operations.ts';
import { isObject, type JsonObject, parseJson } from '../util/json.ts';
import { type Candidate, isAssumed } from './candidates.ts';
import { madeUpName, type Session, settingOf } from './check-session.ts';
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
      const { operationId, requestBody }: JsonObject = isObject(operation) ? operation : {};
      if (!method) continue;
      const name = publish(session, method, own, String(operationId ?? ''));
      noteFields(session, name, propertiesIn(requestBody));
    }
  }
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Verbs of paths and names, by the action that they mean. */
const VERBS: Readonly<Record<string, RegExp>> = {
  list: /^(?:list|index|all)$/,
  get: /^(?:get|show|read|view|fetch|find|details)$/,
  create: /^(?:create|store|add|new|reserve|presign)$/,
  delete: /^(?:delete|destroy|remove)$/,
  cancel: /^cancel$/,
};

/** Methods of each action. */
const METHODS_OF: Readonly<Record<string, readonly Method[]>> = {
  list: ['GET'],
  get: ['GET'],
  create: ['POST'],
  delete: ['POST', 'DELETE'],
  cancel: ['POST'],
};

/** Words without a meaning of their kind, such as endings of paths. */
const FILLERS: readonly string[] = ['json', 'a', 'an', 'the', 'api', 'v'];

/** Adds a published operation to the candidates of the one that it is. */
function publish({ candidates }: Session, method: Method, path: string, label: string): OperationName | undefined {
  if (!path.startsWith('/') || /\s/.test(path)) return undefined;
  const template = path.replace(/\{[^}]*\}|:\w+/g, '{id}');
  const name = JUDGED.find((name) => isAt(name, method, template)) ?? nameOf(method, template, label);
  if (name) candidates.publish(name, method, isAt(name, method, template) ? operations[name].path : template);
  return name;
}

const isAt = (name: OperationName, method: Method, template: string): boolean =>
  operations[name].method === method && operations[name].path.replace(/\{\w+\}/g, '{id}') === template;

const wordsOf = (text: string): string[] =>
  text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word !== '' && !FILLERS.includes(word));

const namespaceOf = (word: string): string | undefined =>
  NAMESPACES.find((plural) => word === plural || word === plural.replace(/s$/, ''));

/**
 * Returns the operation that a published one certainly is: by its path, if that has no other words after the resource,
 * or by its name, if that has no other words at all. What is called in vain must not do anything else.
 */
function nameOf(method: Method, path: string, label: string): OperationName | undefined {
  const segments = path.split('/');
  const at = segments.findLastIndex((segment) => wordsOf(segment).some(namespaceOf));
  const words = wordsOf(segments[at] ?? '');
  const noun = words.findLastIndex(namespaceOf);
  const tail = [
    ...words.slice(noun + 1),
    ...segments.slice(at + 1).flatMap((part) => wordsOf(part.replace('{id}', ''))),
  ];
  const isNested = segments.slice(0, at).includes('{id}');
  const ids = segments.filter((segment) => segment.includes('{id}')).length;
  const usual =
    method === 'GET' ? (ids > 0 ? 'get' : 'list') : method === 'DELETE' ? 'delete' : ids > 0 ? '' : 'create';
  // A GET acts on nothing, so it may be called to see what it is.
  const byPath = tail.length === 0 ? usual : (actionIn(tail) ?? (method === 'GET' ? usual : undefined));
  const labels = wordsOf(label);
  const named = labels.findIndex(namespaceOf);
  const byName = named < 0 ? undefined : actionIn(labels.toSpliced(named, 1));
  const action = at >= 0 && !isNested && byPath ? byPath : byName;
  const plural = at >= 0 && action === byPath ? namespaceOf(words[noun] ?? '') : namespaceOf(labels[named] ?? '');
  const needsId = action === 'get' || action === 'delete' || action === 'cancel';
  if (!action || !METHODS_OF[action]?.includes(method) || ids !== (needsId ? 1 : 0)) return undefined;
  return JUDGED.find(
    (name) => name === `${plural}.${plural === 'uploads' && action === 'create' ? 'reserve' : action}`,
  );
}

/** Returns the action that all words mean. */
function actionIn(words: readonly string[]): string | undefined {
  if (words.length === 0) return undefined;
  return Object.keys(VERBS).find((action) => words.every((word) => VERBS[action]?.test(word)));
}

/** Returns the names of the properties of a JSON body; none if its schema is a reference. */
function propertiesIn(requestBody: unknown): readonly string[] {
  const schema = ['content', 'application/json', 'schema', 'properties'].reduce<unknown>(
    (value, key) => (isObject(value) ? value[key] : undefined),
    requestBody,
  );
  return isObject(schema) ? Object.keys(schema) : [];
}

/** Notes a body as likely, if the published one has the fields that the package sends. */
function noteFields({ findings }: Session, name: OperationName | undefined, fields: readonly string[]): void {
  const main = MAIN_FIELDS[name ?? ''];
  if (main?.every((field) => fields.includes(field)))
    findings.set(`body:${name}`, 'likely', 'The service publishes these fields; they were not sent.');
}

/** Fields without which a body is certainly another one. */
const MAIN_FIELDS: Readonly<Record<string, readonly string[]>> = {
  'projects.create': ['name'],
  'audiences.create': ['name', 'dataset'],
  'lookalikes.create': ['source_audience_id', 'config'],
  'activations.create': ['audience_id'],
};

const NAMESPACES: readonly string[] = [...new Set(JUDGED.map((name) => name.split('.')[0] ?? ''))].filter(
  (name) => !['webhooks', 'usage', 'reference'].includes(name),
);

/** Adds the operations of tools of the MCP endpoint, where a description names method and path. */
export function publishTools(session: Session, tools: readonly unknown[]): void {
  for (const tool of tools) {
    if (!isObject(tool) || typeof tool.name !== 'string') continue;
    const text = typeof tool.description === 'string' ? tool.description : '';
    const [, verb = '', path = ''] = /\b(GET|POST|PUT|PATCH|DELETE)\s+(\/[\w{}:/.-]+)/.exec(text) ?? [];
    const method = METHODS.find((name) => name === verb);
    const published = method && publish(session, method, path.replace(/[.]+$/, ''), tool.name);
    const name = published ?? nameOf('POST', '/', tool.name);
    const { properties } = isObject(tool.inputSchema) ? tool.inputSchema : {};
    if (isObject(properties)) noteFields(session, name, Object.keys(properties));
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

/** Namespaces whose resources are made of those of another one. */
const PARENTS: Readonly<Record<string, string>> = { lookalikes: 'audiences', estimates: 'audiences' };

/** Notes paths that are published, or follow from those of other resources. What was tried in vain does not follow. */
export function noteAnalogies({ findings, candidates, working, tried }: Session): void {
  for (const name of JUDGED) {
    if (findings.stateOf(`path:${name}`) !== 'not-checked' || working.has(name)) continue;
    const published = candidates.publishedFor(name);
    const analogy = candidates.analogyFor(name);
    const [namespace = ''] = name.split('.');
    const list = JUDGED.find((other) => other === `${PARENTS[namespace] ?? namespace}.list`);
    const isElsewhere = tried.has(name) || (list !== undefined && !working.has(list));
    if (published) noteLikely({ findings }, name, published, 'The service publishes it; it was not called.');
    else if (analogy && !analogy.idField && !isElsewhere)
      noteLikely({ findings }, name, analogy, 'Follows from the paths of other resources; it was not called.');
  }
}

function noteLikely(
  { findings }: Pick<Session, 'findings'>,
  name: OperationName,
  candidate: Candidate,
  evidence: string,
): void {
  findings.set(`path:${name}`, 'likely', evidence, isAssumed(name, candidate) ? undefined : settingOf(name, candidate));
}

/** Returns the messages of a response of the MCP endpoint: JSON, or an event stream. */
export function messagesIn(text: string): readonly JsonObject[] {
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  const bodies =
    lines.length > 0 ? lines.map((line) => parseJson(line.slice('data:'.length).trim())) : [parseJson(text)];
  return bodies.filter(isObject);
}

import { type Method, type OperationName, operations } from '../spec/operations.ts';
import { isObject, type JsonObject } from '../util/json.ts';
import { type Candidate, isAssumed, operationAt, settingOf } from './candidates.ts';
import { madeUpName, type Session } from './check-session.ts';
import { KINDS } from './evidence.ts';
import { JUDGED } from './findings.ts';

/** Where services publish their OpenAPI document. */
const DOCUMENTS: readonly string[] = ['/openapi.json', '/api/v2/openapi.json'];

/** Adds the operations of an OpenAPI document to the candidates, if the service publishes one. */
export async function checkDocument(session: Session): Promise<void> {
  const { probe } = session;
  session.onStep('OpenAPI document');
  for (const path of DOCUMENTS) {
    const { body } = await probe.send({ method: 'GET', path, token: 'none', why: 'an OpenAPI document' });
    if (!isObject(body) || !isObject(body.paths)) continue;
    const prefix = serverPath(body);
    for (const [path, methods] of Object.entries(body.paths)) {
      for (const [verb, operation] of Object.entries(isObject(methods) ? methods : {})) {
        const label = isObject(operation) ? String(operation.operationId ?? '') : '';
        publish(session, verb.toUpperCase(), probe.pathBelow(`${prefix}${path}`), label);
      }
    }
    return;
  }
}

/** Returns the path of the server that the paths of an OpenAPI document are below. */
function serverPath({ servers }: JsonObject): string {
  const [server] = Array.isArray(servers) ? servers : [];
  const url = isObject(server) && typeof server.url === 'string' ? server.url : '/';
  return URL.canParse(url, 'http://localhost') ? new URL(url, 'http://localhost').pathname.replace(/\/$/, '') : '';
}

/** Adds the operations of tools of the MCP endpoint, where a description names method and path. */
export function publishTools(session: Session, tools: readonly unknown[]): void {
  for (const tool of tools) {
    if (!isObject(tool) || typeof tool.name !== 'string' || typeof tool.description !== 'string') continue;
    const [, verb, path] = /\b(GET|POST|PUT|PATCH|DELETE)\s+(\/[\w{}:/.-]*[\w}])/.exec(tool.description) ?? [];
    if (verb && path) publish(session, verb, path, tool.name);
  }
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function publish({ candidates }: Session, verb: string, path: string, label: string): void {
  const method = METHODS.find((method) => method === verb);
  const template = path.replace(/\{[^}]*\}|:\w+/g, '{id}');
  const name = method && /^\/\S*$/.test(template) ? operationAt(method, template, label) : undefined;
  if (!method || !name) return;
  const { path: assumed } = operations[name];
  candidates.publish(name, method, assumed.replace(/\{\w+\}/g, '{id}') === template ? assumed : template);
}

/** Asks by OPTIONS which methods the paths of writes allow, if the service says it. */
export async function checkOptions(session: Session): Promise<void> {
  const { probe, findings, candidates } = session;
  const list = KINDS.map((kind) => candidates.working(`${kind}.list`)).find((candidate) => candidate !== undefined);
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
      if (candidate.idField) continue;
      const methods = await allowed(candidate.path, `the methods of ${name}`);
      if (methods?.includes(candidate.method)) {
        candidates.learn(name, candidate);
        noteLikely(session, name, candidate, 'OPTIONS allows it, and not for a made-up path.');
        break;
      }
      candidates.miss();
    }
  }
}

/** Notes paths that are published, or follow from those of other resources, and were not called. */
export function noteUntried(session: Session): void {
  const { findings, candidates } = session;
  for (const name of JUDGED) {
    const untried = findings.stateOf(`path:${name}`) === 'not-checked' ? candidates.untried(name) : undefined;
    const reason = untried?.isPublished ? 'The service publishes it' : 'Follows from the paths of other resources';
    if (untried) noteLikely(session, name, untried.way, `${reason}; it was not called.`);
  }
}

function noteLikely({ findings }: Session, name: OperationName, way: Candidate, evidence: string): void {
  findings.set(`path:${name}`, 'likely', evidence, isAssumed(name, way) ? undefined : settingOf(name, way));
}

import { type Method, type OperationName, operations } from '../spec/operations.ts';
import { isObject, type JsonObject } from '../util/json.ts';
import { type Candidate, isAssumed, operationAt, settingOf } from './candidates.ts';
import type { Session } from './check-session.ts';
import { JUDGED } from './findings.ts';

/** Where services publish their OpenAPI document; the last one is that of Laravel's generators. */
const DOCUMENTS: readonly string[] = ['/openapi.json', '/api/v2/openapi.json', '/docs/api.json'];

/** Adds the operations of an OpenAPI document to the candidates, if the service publishes one. */
export async function checkDocument(session: Session): Promise<void> {
  const { probe } = session;
  session.onStep('OpenAPI document');
  for (const path of DOCUMENTS) {
    const { body } = await probe.send({ method: 'GET', path, isPublic: true, why: 'an OpenAPI document' });
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

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function publish({ candidates }: Session, verb: string, path: string, label: string): void {
  const method = METHODS.find((method) => method === verb);
  const template = path.replace(/\{[^}]*\}|:\w+/g, '{id}');
  const name = method && /^\/\S*$/.test(template) ? operationAt(method, template, label) : undefined;
  if (!method || !name) return;
  const { path: assumed } = operations[name];
  candidates.publish(name, method, assumed.replace(/\{\w+\}/g, '{id}') === template ? assumed : template, label);
}

const HELD_BACK = 'The contract has a request that a check must not call: it could act on something of the account.';

/** Notes paths that are published, or follow from those of other resources, and were not called. */
export function noteUntried(session: Session): void {
  const { findings, candidates } = session;
  for (const name of JUDGED) {
    if (candidates.isHeldBack(name)) findings.unclear(`path:${name}`, HELD_BACK);
    const untried = findings.stateOf(`path:${name}`) === 'not-checked' ? candidates.untried(name) : undefined;
    const reason = untried?.isPublished ? 'The service publishes it' : 'Follows from the paths of other resources';
    if (untried) noteLikely(session, name, untried.way, `${reason}; it was not called.`);
  }
}

function noteLikely({ findings }: Session, name: OperationName, way: Candidate, evidence: string): void {
  findings.set(`path:${name}`, 'likely', evidence, isAssumed(name, way) ? {} : { setting: settingOf(name, way) });
}

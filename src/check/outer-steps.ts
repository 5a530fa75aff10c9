import { COMPLETED } from '../spec/job-status.ts';
import { operations } from '../spec/operations.ts';
import { isObject, type JsonObject, parseJson } from '../util/json.ts';
import { noteReply, read, reasonOf, type Session } from './check-session.ts';
import { envelopeOf, type Reply, type Row, resourceIn } from './evidence.ts';
import { statusOf } from './list-facts.ts';
import { publishTools } from './publication.ts';

const DISCOVERY: Readonly<Record<string, readonly string[]>> = {
  'oauth-protected-resource': ['resource', 'authorization_servers'],
  'oauth-authorization-server': ['issuer', 'authorization_endpoint', 'token_endpoint'],
};

/** The two discovery documents of OAuth. */
export async function checkDiscovery(session: Session): Promise<void> {
  session.onStep('OAuth discovery');
  for (const [document, fields] of Object.entries(DISCOVERY)) {
    const path = `/.well-known/${document}`;
    const why = 'a discovery document of OAuth';
    const reply = await session.probe.send({ method: 'GET', path, token: 'none', why });
    const { status, body } = reply;
    const isAsAssumed = status === 200 && isObject(body) && fields.every((field) => body[field] !== undefined);
    const sentence = ['A read without a token', `returns JSON with ${fields.join(', ')}`] as const;
    noteReply(session, document.replace('-', '.'), reply, isAsAssumed, sentence);
  }
}

const PROTOCOL = '2025-06-18';

/** The MCP endpoint: its first messages and its tools, of which none is called. */
export async function checkMcp(session: Session, hasToken: boolean): Promise<void> {
  const { probe, findings } = session;
  if (!hasToken) return findings.unclear('mcp', 'Needs AUDIENCE_MCP_TOKEN.');
  session.onStep('MCP endpoint');
  let headers: Record<string, string> = { accept: 'application/json, text/event-stream' };
  const call = (method: string, rest: object): Promise<Reply> => {
    const { path } = operations['mcp.send'];
    const body = { jsonrpc: '2.0', method, ...rest };
    return probe.send({ method: 'POST', path, token: 'mcp', headers, body, why: `MCP message ${method}` });
  };
  const clientInfo = { name: 'audience-activation', version: '0' };
  const params = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo };
  const reply = await call('initialize', { id: 1, params });
  const result = resultOf(reply, 1);
  if (reply.status === 401 || reply.status === 403) return findings.unclear('mcp', reasonOf(reply));
  noteReply(session, 'mcp', reply, isObject(result), ['The message `initialize`', 'starts a session']);
  if (!isObject(result)) return;
  const sessionId = reply.headers.get('mcp-session-id');
  headers = {
    ...headers,
    'mcp-protocol-version': String(result.protocolVersion ?? PROTOCOL),
    ...(sessionId !== null && { 'mcp-session-id': sessionId }),
  };
  await call('notifications/initialized', {});
  const list = resultOf(await call('tools/list', { id: 2, params: {} }), 2);
  if (isObject(list) && Array.isArray(list.tools)) publishTools(session, list.tools);
}

/** Returns the result in a response of the MCP endpoint: JSON, or an event stream. */
function resultOf({ status, text }: Reply, id: number): unknown {
  const events = text.split(/\r?\n/).flatMap((line) => (line.startsWith('data:') ? [line.slice('data:'.length)] : []));
  const messages: readonly JsonObject[] = (events.length > 0 ? events : [text]).map(parseJson).filter(isObject);
  return status >= 200 && status < 300 ? messages.find((message) => message.id === id)?.result : undefined;
}

/** Results of an activation: one byte, without a token. */
export async function checkResults(session: Session): Promise<void> {
  const { probe, findings, rows, resources, candidates } = session;
  const id = 'results.download';
  const isCompleted = (row: Row): boolean => statusOf(row)?.id === COMPLETED;
  const shown = resources.get('activations');
  const listed = rows.get('activations')?.find(isCompleted);
  const get = candidates.working('activations.get');
  let activation = shown && isCompleted(shown) ? shown : undefined;
  if (!activation && listed && get) {
    session.onStep('Results of an activation');
    const reply = await read(session, 'a completed activation', { id: listed.id })(get);
    activation = resourceIn(envelopeOf(reply), listed.id)?.value;
  }
  const uri = activation && uriIn(activation);
  if (uri === undefined) return findings.unclear(id, 'Needs a completed activation with results.');
  if (!/^https?:\/\//.test(uri) || !URL.canParse(uri))
    return findings.set(id, 'differs', 'The URI of a result is not a link of http or https.');
  const headers = { range: 'bytes=0-0' };
  const reply = await probe.send({ method: 'GET', path: uri, headers, token: 'none', why: 'one byte of a result' });
  const { status } = reply;
  // Such as a 404 of a result that has expired.
  if (status >= 400 && status !== 401 && status !== 403) return findings.unclear(id, reasonOf(reply));
  noteReply(session, id, reply, status === 200 || status === 206, ['A read without a token', 'returns a result']);
}

function uriIn({ datastreams }: Row): string | undefined {
  for (const stream of Array.isArray(datastreams) ? datastreams : []) {
    const uri = isObject(stream) && isObject(stream.results) ? stream.results.uri : undefined;
    if (typeof uri === 'string' && uri !== '') return uri;
  }
  return undefined;
}

/** Names of headers with a request id. */
const ID_HEADER =
  /(?:^|-)(?:request|correlation|trace|transaction|req|call)-?(?:id|uuid)$|^traceparent$|^(?:x-)?rid$|^cf-ray$/;

/** The header with the request id: it has another value in each response. */
export function checkRequestId({ probe: { successes }, findings }: Session): void {
  const id = 'request-id-header';
  const isUnique = (name: string): boolean => {
    const values = new Set(successes.map((headers) => headers.get(name)));
    return successes.length > 1 && values.size === successes.length && !values.has(null);
  };
  const names = [...(successes[0]?.keys() ?? [])].filter(isUnique);
  const evidence = 'Each successful response has another value in it.';
  const other = names.find((name) => ID_HEADER.test(name));
  if (names.includes('x-request-id')) findings.set(id, 'confirmed', evidence);
  else if (other !== undefined) findings.set(id, 'differs', evidence, { requestIdHeader: other });
  else findings.unclear(id, 'No header of the responses looks like a request id.');
}

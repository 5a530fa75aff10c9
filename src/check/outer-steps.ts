import { COMPLETED } from '../spec/job-status.ts';
import { operations } from '../spec/operations.ts';
import { isObject } from '../util/json.ts';
import { read, reasonOf, type Session } from './check-session.ts';
import { envelopeOf, type Reply, type Row, resourceIn } from './evidence.ts';
import { messagesIn, publishTools } from './publication.ts';

const DISCOVERY: Readonly<Record<string, readonly string[]>> = {
  'oauth-protected-resource': ['resource', 'authorization_servers'],
  'oauth-authorization-server': ['issuer', 'authorization_endpoint', 'token_endpoint'],
};

/** The two discovery documents of OAuth. */
export async function checkDiscovery({ probe, findings, onStep }: Session): Promise<void> {
  onStep('OAuth discovery');
  for (const [document, fields] of Object.entries(DISCOVERY)) {
    const id = document.replace('-', '.');
    const path = `/.well-known/${document}`;
    const reply = await probe.send({ method: 'GET', path, token: 'none', why: 'a discovery document of OAuth' });
    const { body } = reply;
    const isReadable = reply.status === 200 && isObject(body);
    const missing = isReadable ? fields.filter((field) => body[field] === undefined) : fields;
    if (missing.length === 0) findings.set(id, 'confirmed', 'Public JSON with the fields of its RFC.');
    else if (isReadable) findings.set(id, 'differs', `These fields are missing: ${missing.join(', ')}.`);
    else if (reply.status === 0 || reply.status >= 500) findings.unclear(id, reasonOf(reply));
    else {
      findings.set(id, 'differs', `The document was not found (${reply.status}).`);
    }
  }
}

const PROTOCOL = '2025-06-18';
const MCP = operations['mcp.send'].path;

/** The MCP endpoint: its first messages and its tools, of which none is called. */
export async function checkMcp(session: Session, hasToken: boolean): Promise<void> {
  const { probe, findings } = session;
  if (!hasToken) return findings.unclear('mcp', 'Needs AUDIENCE_MCP_TOKEN.');
  session.onStep('MCP endpoint');
  let headers: Record<string, string> = { accept: 'application/json, text/event-stream' };
  const call = (method: string, params: unknown, id?: number): Promise<Reply> =>
    probe.send({
      method: 'POST',
      path: MCP,
      token: 'mcp',
      headers,
      body: { jsonrpc: '2.0', ...(id !== undefined && { id }), method, ...(params !== undefined && { params }) },
      why: `MCP message ${method}`,
    });
  const clientInfo = { name: 'audience-activation', version: '0' };
  const first = await call('initialize', { protocolVersion: PROTOCOL, capabilities: {}, clientInfo }, 1);
  const result = resultOf(first, 1);
  if (!isObject(result)) {
    const isOther = first.status >= 200 && first.status < 500 && first.status !== 401 && first.status !== 403;
    if (isOther) findings.set('mcp', 'differs', `The endpoint does not start a session (${first.status}).`);
    else findings.unclear('mcp', reasonOf(first));
    return;
  }
  findings.set('mcp', 'confirmed', 'The endpoint responds to `initialize`.');
  const { protocolVersion } = result;
  const sessionId = first.headers.get('mcp-session-id');
  headers = {
    ...headers,
    ...(typeof protocolVersion === 'string' && { 'mcp-protocol-version': protocolVersion }),
    ...(sessionId !== null && { 'mcp-session-id': sessionId }),
  };
  await call('notifications/initialized', undefined);
  const list = resultOf(await call('tools/list', {}, 2), 2);
  if (isObject(list) && Array.isArray(list.tools)) publishTools(session, list.tools);
}

const resultOf = ({ status, text }: Reply, id: number): unknown =>
  status >= 200 && status < 300 ? messagesIn(text).find((message) => message.id === id)?.result : undefined;

/** Results of an activation: one byte, without a token. */
export async function checkResults(session: Session): Promise<void> {
  const { findings, rows, resources, working } = session;
  const isCompleted = ({ status }: Row): boolean => isObject(status) && status.id === COMPLETED;
  const shown = resources.get('activations');
  const listed = (rows.get('activations') ?? []).find(isCompleted);
  let activation = shown && isCompleted(shown) ? shown : undefined;
  const candidate = working.get('activations.get');
  if (!activation && listed && candidate) {
    session.onStep('Results of an activation');
    const reply = await read(session, 'a completed activation', { id: listed.id })(candidate);
    activation = resourceIn(envelopeOf(reply), listed.id)?.value;
  }
  const uri = activation && uriIn(activation);
  if (uri === undefined) return findings.unclear('results.download', 'Needs a completed activation with results.');
  if (!/^https?:\/\//.test(uri) || !URL.canParse(uri))
    return findings.set('results.download', 'differs', 'The URI of a result is not a link of http or https.');
  const range = { range: 'bytes=0-0' };
  const reply = await session.probe.send({
    method: 'GET',
    path: uri,
    headers: range,
    token: 'none',
    why: 'one byte of a result',
  });
  if (reply.status === 200 || reply.status === 206)
    findings.set('results.download', 'confirmed', 'A result is readable without a token.');
  else if (reply.status === 401 || reply.status === 403)
    findings.set('results.download', 'differs', `A result is refused without a token (${reply.status}).`);
  else findings.unclear('results.download', reasonOf(reply));
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
export function checkRequestId({ probe, findings }: Session): void {
  const isUnique = (values: readonly string[]): boolean =>
    values.length >= 2 && values.length >= probe.successes && new Set(values).size === values.length;
  const names = [...probe.headers].filter(([, values]) => isUnique(values)).map(([name]) => name);
  const evidence = 'Each successful response has another value in it.';
  const other = names.find((name) => ID_HEADER.test(name));
  if (names.includes('x-request-id')) findings.set('request-id-header', 'confirmed', evidence);
  else if (other !== undefined) {
    findings.set('request-id-header', 'differs', evidence, { requestIdHeader: other });
  } else findings.unclear('request-id-header', 'No header of the responses looks like a request id.');
}

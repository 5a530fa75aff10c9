import { describe, expect, it } from 'vitest';
import { isJsonRpcResponse, readJsonRpc } from '../../../src/client/http/json-rpc.ts';

const request = { jsonrpc: '2.0', id: 1, method: 'ping' };
const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
const response = { jsonrpc: '2.0', id: 1, result: { ok: true } };
const other = { ...response, id: 2 };
const progress = { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } };

const json = JSON.stringify;
const read = (text: string, { sent = request as unknown, status = 200, type = 'application/json' } = {}) =>
  readJsonRpc({ status, text, headers: new Headers({ 'content-type': type }) }, sent);
const stream = (text: string) => read(text, { type: 'text/event-stream; charset=utf-8' });
const answered = (data: unknown) => ({ envelope: { status: 'success', code: 200, message: '', data } });

describe('the response to a request', () => {
  const failed = { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found' } };

  it.each([
    ['a message', response, response],
    ['a list', [progress, other, response], response],
    ['an error', failed, failed],
  ])('is found in %s of JSON', (_, body, expected) => {
    expect(read(json(body))).toEqual(answered(expected));
  });

  it.each([
    ['a string', 'a'],
    ['an empty string', ''],
    ['zero', 0],
  ])('is found by %s as its id', (_, id) => {
    const own = { ...response, id };
    expect(read(json([response, own]), { sent: { ...request, id } })).toEqual(answered(own));
  });

  it('is neither a request of the service with the same id nor a message whose id is a string of the same digits', () => {
    expect(read(json([{ ...request, method: 'roots/list' }, response]))).toEqual(answered(response));
    expect(read(json({ ...response, id: '1' }))).toEqual({ problem: 'the body contains no response with the id 1' });
  });

  it.each([
    ['a list without it', json([progress, other]), 'the body contains no response with the id 1'],
    ['an empty list', '[]', 'the body contains no response with the id 1'],
    ['an error without an id', json({ ...failed, id: null }), 'the body contains no response with the id 1'],
    ['an empty body', '', 'the body is empty'],
    ['HTML', '<html>', 'the body is HTML or XML, so a proxy probably responded: check the base URL'],
    ['cut JSON', '{"jsonrpc":"2.0"', 'the body is not complete JSON'],
    ['an envelope', '{"status":"success","code":200,"message":""}', 'the body is not a JSON-RPC 2.0 message'],
    ['another version', json({ ...response, jsonrpc: '1.0' }), 'the body is not a JSON-RPC 2.0 message'],
    ['a list with something else', json([response, 7]), 'the body is not a JSON-RPC 2.0 message'],
    ['null', 'null', 'the body is not a JSON-RPC 2.0 message'],
  ])('is missing in %s', (_, text, problem) => {
    expect(read(text)).toEqual({ problem });
  });

  it.each([
    { result: null },
    { result: [1] },
    {},
    { error: 'broken' },
    { error: { code: '1', message: 'x' } },
    { error: { code: 1 } },
    { result: {}, error: { code: 1, message: 'x' } },
  ])('is not valid with %j', (more) => {
    const body = { jsonrpc: '2.0', id: 1, ...more };
    expect(read(json(body))).toEqual({ problem: expect.stringContaining('the response must contain an object') });
    expect(isJsonRpcResponse(body)).toBe(false);
  });

  it('may be a refusal in the envelope', () => {
    expect(read('{"status":"error","code":403,"message":"No."}')).toEqual({
      refusal: expect.objectContaining({ status: 'error' }),
    });
  });
});

describe('an event stream', () => {
  const data = json(response);
  const [head, tail] = [data.slice(0, 17), data.slice(17)];

  it.each([
    ['one event', `event: message\ndata: ${data}\n\n`],
    ['no type', `data: ${data}\n\n`],
    ['an empty type', `event:\ndata: ${data}\n\n`],
    ['no space', `data:${data}\n\n`],
    ['CRLF', `event: message\r\ndata: ${data}\r\n\r\n`],
    ['CR', `event: message\rdata: ${data}\r\r`],
    ['no empty line at its end', `data: ${data}`],
    ['comments, ids and waits', `: hello\n\n:\nid: 7\nretry: 10\ndata: ${data}\n: more\n\n: bye`],
    ['several data lines', `data: ${head}\ndata: ${tail}\n\n`],
    ['an event without data before', `id: 1\ndata:\n\nid: 2\ndata\n\ndata: ${data}\n\n`],
    ['messages before and after', `data: ${json(progress)}\n\n\n\ndata: ${data}\n\ndata: ${json(other)}\n\n`],
    ['a list in an event', `data: ${json([progress, response])}\n\n`],
    ['text that is not JSON before', `data: hello\n\ndata: 7\n\ndata: ${data}\n\n`],
    ['another type before', `event: ping\ndata: ${json({ ...response, result: { ok: false } })}\n\ndata: ${data}\n\n`],
  ])('an event stream with %s contains the response', (_, text) => {
    expect(stream(text)).toEqual(answered(response));
  });

  it('may hold separators of Unicode in its data', () => {
    const odd = { ...response, result: { text: 'a\u2028b\u0085c' } };
    expect(stream(`data: ${json(odd)}\n\n`)).toEqual(answered(odd));
  });

  it.each([
    '',
    ': nothing\n\n',
    `data: ${json(progress)}\n\n`,
    `data: ${head}\n\n`,
    `data: ${head}\n\ndata: ${tail}\n\n`,
    `event: ping\ndata: ${data}\n\n`,
  ])('an event stream without the response is a problem: %j', (text) => {
    expect(stream(text)).toEqual({ problem: 'the body contains no response with the id 1' });
  });

  it('is read until 100 events are not JSON, because failing to parse is slow', () => {
    expect(stream(`${'data:{\n\n'.repeat(100)}data: ${data}\n\n`)).toEqual(answered(response));
    expect(stream(`${'data:{\n\n'.repeat(101)}data: ${data}\n\n`)).toHaveProperty('problem');
  });

  it.each(['text/event-stream', ' Text/Event-Stream ;charset=utf-8'])('is recognized by its type: %s', (type) => {
    expect(read(`data: ${data}\n\n`, { type })).toEqual(answered(response));
  });

  it.each(['text/event-streams', 'application/json', 'text/plain; text/event-stream'])(
    'is not recognized by %s',
    (type) => {
      expect(read(`data: ${data}\n\n`, { type })).toEqual({ problem: 'the body is not complete JSON' });
    },
  );
});

describe('a message without a response', () => {
  const accepted = (code: number) => ({ envelope: { status: 'success', code, message: '' } });

  it.each([
    ['202 with nothing', 202, ''],
    ['202 with anything', 202, 'Accepted'],
    ['204', 204, ''],
    ['200 with a message', 200, json(progress)],
  ])('is accepted by %s', (_, status, text) => {
    for (const sent of [notification, response]) expect(read(text, { sent, status })).toEqual(accepted(status));
  });

  it('is not accepted by 200 with something else, nor by a refusal', () => {
    expect(read('<html>', { sent: notification })).toEqual({ problem: expect.stringContaining('HTML') });
    expect(read('{"status":"error"}', { sent: notification, status: 202 })).toEqual({
      refusal: expect.objectContaining({ status: 'error' }),
    });
  });
});

import '../support/nothing-left.ts';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import * as client from '../../src/index.ts';
import { startBench } from '../support/sandbox.ts';
import { failureOf } from '../support/server.ts';

const { AudienceError, BuildBudgetError, ConfigurationError, ConflictError, RateLimitError } = client;

/** Returns the error of a create whose key has another body, in an account with a token that must not show. */
async function conflict() {
  const { connect, account } = await startBench();
  const token = account.token('api');
  const namespace = connect({ token }).audiences;
  await namespace.create({ name: 'One' }, { idempotencyKey: 'order-1' });
  const error = await failureOf(namespace.create({ name: 'Two' }, { idempotencyKey: 'order-1' }));
  if (!ConflictError.isInstance(error)) throw error;
  return { error, token };
}

const byMessagePort = async (value: unknown): Promise<unknown> => {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(value);
  const [message] = await once(port2, 'message');
  port1.close();
  return message;
};

/** Sends a value to a child process, which sends it back. */
const byChildProcess = (serialization: 'json' | 'advanced') => async (value: object) => {
  const child = fork('--eval', ['process.on("message", (m) => process.send(m))'], { serialization, execArgv: [] });
  child.send(value);
  const [answer] = await once(child, 'message');
  child.kill();
  await once(child, 'exit');
  return answer;
};

describe('an error', () => {
  it('shows its advice in its text, its stack and the console, and keeps it out of its message', async () => {
    const { error } = await conflict();
    expect(error.message).toBe('audiences.create failed: 409 This idempotency key was used with a different body.');
    expect(error.advice).toContain('check the list');
    const text = `ConflictError: ${error.message} ${error.advice}`;
    expect([String(error), error.stack?.slice(0, text.length + 1)]).toEqual([text, `${text}\n`]);
    expect(inspect(error)).toContain(text);
  });

  it.each([
    ['JSON', (error: object) => JSON.parse(JSON.stringify(error))],
    ['structuredClone', (error: client.AnyAudienceError) => structuredClone(error.toJSON())],
    ['a MessagePort', (error: client.AnyAudienceError) => byMessagePort(error.toJSON())],
    ['a child process', byChildProcess('json')],
    ['a child process that clones', (error: client.AnyAudienceError) => byChildProcess('advanced')(error.toJSON())],
  ])('keeps its class, fields and advice through %s, and shows no secret', async (_, cross) => {
    const { error, token } = await conflict();
    const json = await cross(error);
    const copy = AudienceError.from(json);
    if (!ConflictError.isInstance(copy)) throw copy;
    expect(client.ApiError.isInstance(copy)).toBe(true);
    expect(client.ServerError.isInstance(copy)).toBe(false);
    expect(copy.toJSON()).toEqual(error.toJSON());
    expect(copy).toMatchObject({ code: 'conflict', outcome: 'refused', idempotencyKey: 'order-1', status: 409 });
    expect(copy.headers.get('content-type')).toBe(error.headers.get('content-type'));
    expect(String(copy)).toBe(String(error));
    expect(copy.stack).toContain(String(error));
    expect(JSON.stringify(json)).not.toContain(token);
  });

  it('keeps what was created, the upload, and when to retry', () => {
    const upload = { reference: 'upl_1', claimBefore: new Date(900_000) };
    const details = { status: 429, operation: 'audiences.create', method: 'POST', path: '/', headers: new Headers() };
    const error = new BuildBudgetError('No.', {
      ...details,
      ...{ body: '', attempts: 1, bucket: 'write', retryAfter: 5, retryAt: new Date(5_000) },
      ...{ created: { kind: 'audience', id: 4 }, upload, advice: 'Wait.' },
    });
    const copy = AudienceError.from(JSON.parse(JSON.stringify(error)));
    if (!BuildBudgetError.isInstance(copy)) throw copy;
    expect(RateLimitError.isInstance(copy)).toBe(true);
    const { created, retryAfter, retryAt, advice } = copy;
    expect({ created, upload: copy.upload, retryAfter, retryAt, advice }).toEqual({
      created: { kind: 'audience', id: 4 },
      upload,
      retryAfter: 5,
      retryAt: new Date(5_000),
      advice: 'Wait.',
    });
  });

  it.each([
    ['nothing', undefined],
    ['JSON that was not parsed', '{"name":"ConflictError"}'],
    ['an array', []],
    ['an error of another package', { name: 'Error', message: 'No.', code: 'conflict' }],
    ['a field of another type', { ...new ConfigurationError('No.').toJSON(), headers: 5 }],
  ])('`AudienceError.from` refuses %s', (_, json) => {
    const from = () => AudienceError.from(json);
    expect(from).toThrow(ConfigurationError);
    expect(from).toThrow('`AudienceError.from` did not receive an error of this package.');
  });

  it('keeps its methods, whatever fields it is made of', () => {
    const json = { ...new ConfigurationError('No.').toJSON(), toString: 1, toJSON: 2, constructor: 3 };
    const copy = AudienceError.from(json);
    expect(String(copy)).toBe('ConfigurationError: No.');
    expect(copy.toJSON()).toEqual(new ConfigurationError('No.').toJSON());
  });
});

import pino from 'pino';
import { expect, it } from 'vitest';
import type { Logger } from '../../src/index.ts';
import { startBench } from '../support/sandbox.ts';

/** The adapter of docs/telemetry.md. */
const adapterOf = (log: pino.Logger): Logger => ({
  error: (message, fields) => log.error(fields, message),
  warn: (message, fields) => log.warn(fields, message),
  info: (message, fields) => log.info(fields, message),
  debug: (message, fields) => log.debug(fields, message),
});

/** Creates a pino logger whose lines are collected. */
function collect(): { readonly log: pino.Logger; readonly lines: Record<string, unknown>[] } {
  const lines: Record<string, unknown>[] = [];
  return { lines, log: pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) }) };
}

it('pino logs message and fields with the adapter, and drops the fields without it', async () => {
  const [adapted, direct] = [collect(), collect()];
  // @ts-expect-error pino takes the fields before the message
  const wrong: Logger = direct.log;
  const { connect, account, sandbox } = await startBench();
  for (const logger of [adapterOf(adapted.log), wrong]) {
    sandbox.faults.add({ on: 'audiences.list', status: 503, times: 1 });
    await connect({ token: account.token('api'), logger, logLevel: 'info' }).audiences.list();
  }
  const fields = { operation: 'audiences.list' };
  expect(adapted.lines).toMatchObject([
    { msg: expect.stringContaining('The client retries audiences.list'), ...fields },
  ]);
  expect(direct.lines).toMatchObject([{ msg: expect.stringContaining('The client retries audiences.list') }]);
  expect(direct.lines[0]).not.toHaveProperty('operation');
});

it('`console` and loggers that take the message first are accepted', () => {
  const ignore = (): void => {};
  // As winston declares `silent`.
  const winston = { silent: false, error: ignore, warn: ignore, info: ignore, debug: ignore };
  // As consola declares its functions.
  const logged = Object.assign(ignore, { raw: ignore });
  const consola = { silent: logged, error: logged, warn: logged, info: logged, debug: logged };
  const loggers: readonly Logger[] = [console, winston, consola];
  expect(loggers).toHaveLength(3);
});

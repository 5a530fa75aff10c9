import { expect, test } from 'vitest';
import { type Fault, type Passing, startFaultProxy } from '../../support/fault-proxy.ts';
import { startScene } from '../support/run-command.ts';

/** Starts `check --write`, and interrupts it while it waits for the response to a request. */
async function interruptAt(isLast: (request: Passing) => boolean, later?: Fault) {
  const scene = await startScene();
  const stalled = Promise.withResolvers<void>();
  let isStalled = false;
  const proxy = await startFaultProxy(scene.url, (request): Fault | undefined => {
    if (!isLast(request)) return undefined;
    if (isStalled) return later;
    isStalled = true;
    stalled.resolve();
    return { kind: 'stall-headers' };
  });
  const { interrupt, ended } = scene.start(['check', '--write', '--yes'], { env: { AUDIENCE_BASE_URL: proxy.url } });
  await scene.time.until(stalled.promise);
  interrupt();
  const { code, err } = await ended;
  const deletes = proxy.passed.filter(({ path }) => path.endsWith('/delete')).length;
  return { code, err, deletes, projects: await scene.json(['projects', 'list']) };
}

test('Ctrl-C while a delete is in flight waits until the project is gone, and says nothing of it', async () => {
  expect(await interruptAt(({ path }) => path.endsWith('/delete'))).toEqual({
    code: 130,
    err: expect.not.stringContaining('left'),
    deletes: 2,
    projects: [],
  });
});

test('Ctrl-C after the create of a check deletes what was created', async () => {
  let creates = 0;
  const isSecondCreate = ({ path }: Passing): boolean => path === '/api/v2/projects/create' && ++creates === 2;
  expect(await interruptAt(isSecondCreate)).toEqual({
    code: 130,
    err: expect.not.stringContaining('left'),
    deletes: 1,
    projects: [],
  });
});

test('Ctrl-C names the project that it could not delete', async () => {
  const isWrite = ({ path }: Passing): boolean => /projects\/(?:create|\d+\/delete)$/.test(path);
  const { code, err, projects } = await interruptAt(isWrite, { kind: 'cut-before' });
  expect(code).toBe(130);
  expect(projects).toHaveLength(1);
  expect(err).toMatch(
    /The project `audience-check [^`]+` may still exist\. After an hour, a check with --write offers to delete the project\./,
  );
});

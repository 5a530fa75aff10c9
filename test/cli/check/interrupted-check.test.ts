import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Fault, type Passing, startFaultProxy } from '../../support/fault-proxy.ts';
import { startScene } from '../support/run-command.ts';

/** Starts `check --write`; one of its requests is served, and its response never arrives. */
async function startStalled(isStalled: (request: Passing) => boolean) {
  const scene = await startScene();
  const stalled = Promise.withResolvers<void>();
  let faults = 1;
  const proxy = await startFaultProxy(scene.url, (request): Fault | undefined => {
    if (!isStalled(request) || faults-- <= 0) return undefined;
    stalled.resolve();
    return { kind: 'stall-headers' };
  });
  const running = scene.start(['check', '--write', '--yes'], { env: { AUDIENCE_BASE_URL: proxy.url } });
  await scene.time.until(stalled.promise);
  const projects = async () => scene.json(['projects', 'list']);
  const journals = () => readdir(join(scene.folder, 'config', 'checks'));
  return { ...running, proxy, projects, journals };
}

test('Ctrl-C while the delete of a check is in flight says that something is left, and how it is deleted', async () => {
  const { interrupt, ended, journals } = await startStalled(({ path }) => path.endsWith('/delete'));
  interrupt();
  const { code, err } = await ended;
  expect(code).toBe(130);
  expect(err).toContain('is left: `audience-activation check --write` deletes it.');
  expect(await journals()).toHaveLength(1);
});

test('Ctrl-C after the create of a check deletes what was created', async () => {
  let creates = 0;
  const isSecondCreate = ({ method, path }: Passing): boolean =>
    method === 'POST' && path === '/api/v2/projects/create' && ++creates === 2;
  const { interrupt, ended, journals, projects, proxy } = await startStalled(isSecondCreate);
  interrupt();
  const { code, err } = await ended;
  expect({ code, err }).toEqual({ code: 130, err: expect.not.stringContaining('is left') });
  expect(await projects()).toEqual([]);
  expect(await journals()).toEqual([]);
  expect(proxy.passed.filter(({ path }) => path.endsWith('/delete'))).toHaveLength(1);
});

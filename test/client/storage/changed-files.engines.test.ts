import { appendFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/directory.ts';
import { ENGINES, type EngineBrowser, type Tab } from '../../support/engines.ts';
import { openTransferPage, serveStorage } from './support/transfer-tabs.ts';

const CONTENT = 'id\n'.repeat(100_000);

/** Changes of a file, and the engines that do not show them. */
const CHANGES = [
  ['grows', (path: string) => appendFile(path, '1\n'), []],
  ['shrinks', (path: string) => truncate(path, 10), []],
  ['is deleted', (path: string) => rm(path), []],
  ['is rewritten with the same size', (path: string) => writeFile(path, CONTENT.replaceAll('d', 'D')), ['firefox']],
] as const;

describe.each(ENGINES)('an upload in $name of a file that', ({ name, launch }) => {
  let browser: EngineBrowser;
  let tab: Tab;
  beforeAll(async () => {
    browser = await launch();
    tab = await browser.newTab();
  });
  afterAll(() => browser.close());

  /** Opens the page, and selects a file in it. */
  async function select(storage: RequestListener): Promise<{ readonly path: string; readonly storageUrl: string }> {
    const path = join(await temporaryDirectory(), 'customers.csv');
    await writeFile(path, CONTENT);
    // Engines compare times, WebKit in seconds.
    await utimes(path, 1_000_000_000, 1_000_000_000);
    await openTransferPage(tab);
    const storageUrl = await serveStorage(storage);
    await tab.setFile('input', path);
    // Until the page has read them, an engine may take size and time from the changed file.
    const size = await tab.run(() => {
      const file = document.querySelector('input')?.files?.[0];
      return file?.lastModified && file.size;
    });
    expect(size).toBe(CONTENT.length);
    return { storageUrl, path };
  }

  const expectFailure = async (storageUrl: string, hidden: readonly string[]): Promise<void> => {
    const { error, code } = await tab.run((url) => transfers.upload(url), storageUrl);
    if (hidden.includes(name)) expect(error).toBeUndefined();
    else expect([error, code]).toEqual(['FileError', expect.stringMatching(/^(?:file-unreadable|size-mismatch)$/)]);
  };

  it.each(CHANGES)('%s before it is sent fails, unless the engine hides it', async (_, change, hidden) => {
    const scene = await select(async (request, response) => {
      await text(request).catch(() => {});
      response.end();
    });
    await change(scene.path);
    await expectFailure(scene.storageUrl, hidden);
  });

  it.each(CHANGES)('%s between two attempts fails, unless the engine hides it', async (_, change, hidden) => {
    let attempts = 0;
    const scene = await select(async (request, response) => {
      const isFirst = attempts++ === 0;
      await text(request).catch(() => {});
      if (isFirst) await change(scene.path);
      response.writeHead(isFirst ? 503 : 200).end();
    });
    await expectFailure(scene.storageUrl, hidden);
  });

  it('stays the same is sent, also again', async () => {
    const bodies: string[] = [];
    const { storageUrl } = await select(async (request, response) => {
      response.statusCode = bodies.push(await text(request)) === 1 ? 503 : 200;
      response.end();
    });
    const { error, progress } = await tab.run((url) => transfers.upload(url), storageUrl);
    expect(error).toBeUndefined();
    expect(bodies.map((body) => body === CONTENT)).toEqual([true, true]);
    expect(progress.at(-1)).toEqual({ loaded: CONTENT.length, total: CONTENT.length });
  });
});

import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ENGINES, type EngineBrowser, type Tab } from '../../support/engines.ts';
import { openTransferPage, serveStorage } from './support/transfer-tabs.ts';

const SIZE = 2 * 2 ** 20;
const NOISE = randomBytes(SIZE);
const TEXT = Buffer.alloc(SIZE, 'id,email\n0123456789,someone@example.com\n');
const gzipped = { 'content-encoding': 'gzip' };

/** A file that storage sends. */
interface StoredFile {
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends it with its length; otherwise in chunks. */
  readonly hasLength?: boolean;
}

/** Sends a file. With `cut`, sends a part of it, then ends or resets the connection. */
const storing =
  (
    { body, headers, hasLength }: StoredFile,
    cut?: { readonly at: number; readonly by: 'end' | 'reset' },
  ): RequestListener =>
  ({ socket }, response) => {
    response.writeHead(200, { ...headers, ...(hasLength && { 'content-length': body.length }) });
    if (!cut) response.end(body);
    else
      response.write(body.subarray(0, cut.at * body.length), () =>
        cut.by === 'end' ? socket.end() : socket.resetAndDestroy(),
      );
  };

const plain = { body: NOISE };
const noise = { body: gzipSync(NOISE), headers: gzipped };
const text = { body: gzipSync(TEXT), headers: gzipped };

/** Engines that report a cut download as complete, because they do not show the cut. */
const CUTS = [
  ['a file with `Content-Length`', { ...plain, hasLength: true }, { at: 0.25, by: 'end' }, []],
  [
    'a gzip file with `Content-Length`, of fewer bytes than it',
    { ...noise, hasLength: true },
    { at: 0.25, by: 'end' },
    [],
  ],
  [
    'a gzip file with `Content-Length`, of more bytes than it',
    { ...text, hasLength: true },
    { at: 0.25, by: 'end' },
    ['firefox'],
  ],
  ['a file in chunks, ended', plain, { at: 0.25, by: 'end' }, ['webkit']],
  ['a gzip file in chunks, ended', noise, { at: 0.25, by: 'end' }, ['webkit']],
  ['a file in chunks, reset', plain, { at: 0.25, by: 'reset' }, []],
  ['a gzip file in chunks, reset', noise, { at: 0.25, by: 'reset' }, []],
] as const;

const COMPLETE = [
  ['with `Content-Length`', { ...plain, hasLength: true }],
  ['in chunks', plain],
  ['compressed', { ...text, hasLength: true }],
  ['that gzip enlarges', { ...noise, hasLength: true }],
  ['of one byte that gzip enlarges', { body: gzipSync('a'), headers: gzipped, hasLength: true }],
  ['of no bytes that gzip enlarges', { body: gzipSync(''), headers: gzipped, hasLength: true }],
  [
    'that gzip stores, in blocks',
    { body: gzipSync(NOISE, { level: 0, memLevel: 1 }), headers: gzipped, hasLength: true },
  ],
] as const;

const exposed = { 'access-control-expose-headers': 'Content-Encoding, Access-Control-Expose-Headers' };

describe.each(ENGINES)('a download in $name', ({ name, launch }) => {
  let browser: EngineBrowser;
  let tab: Tab;
  beforeAll(async () => {
    browser = await launch();
    tab = await browser.newTab();
    await openTransferPage(tab);
  });
  afterAll(() => browser.close());

  it.each(CUTS)(
    'a download of %s that is cut completes only if the engine hides the cut',
    async (_, file, cut, complete) => {
      const storageUrl = await serveStorage(storing(file, cut));
      const { error, progress } = await tab.run((url) => transfers.download(url), storageUrl);
      expect(error).toBe((complete as readonly string[]).includes(name) ? undefined : 'ConnectionError');
      expect(progress.at(-1)?.loaded ?? 0).toBeLessThan(SIZE);
    },
  );

  it.each(COMPLETE)('a download of a complete file %s is complete', async (_, file) => {
    const storageUrl = await serveStorage(storing(file));
    const { error, progress } = await tab.run((url) => transfers.download(url), storageUrl);
    expect(error).toBeUndefined();
    const { loaded, total } = progress.at(-1) ?? {};
    expect(total).toBe(loaded);
  });

  it.each([
    ['a plain file is known if the encoding can be read', { ...plain, headers: exposed, hasLength: true }, [SIZE]],
    ['a plain file is known only at the end otherwise', { ...plain, hasLength: true }, ['unknown', SIZE]],
    [
      'a gzip file is known only at the end',
      { ...noise, headers: { ...gzipped, ...exposed }, hasLength: true },
      ['unknown', SIZE],
    ],
  ])('the total of %s', async (_, file, totals) => {
    const storageUrl = await serveStorage(storing(file));
    const { progress } = await tab.run((url) => transfers.download(url), storageUrl);
    expect([...new Set(progress.map(({ total }) => total ?? 'unknown'))]).toEqual(totals);
  });
});

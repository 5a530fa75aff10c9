import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { AudienceClient, ClientOptions } from '../../src/index.ts';
import { type Journal, openJournal } from '../../src/node/index.ts';
import type { SandboxOptions } from '../../src/sandbox/index.ts';
import { temporaryDirectory } from './directory.ts';
import { startBench, type TestBench } from './sandbox.ts';

const many = { limit: 1_000_000, interval: 1_000 };

/** Limits that no test reaches. */
export const NO_LIMITS = { read: many, write: many, buildsPerHour: 1_000_000, buildsPerDay: 1_000_000 } as const;

/** A sandbox over HTTP, and the path of a journal that does not exist yet. */
export interface JournalBench extends TestBench {
  readonly path: string;
  /** Opens the journal, which is closed after the test. */
  open(client?: AudienceClient): Promise<Journal>;
  /** Returns the lines of the journal. */
  lines(): Promise<Record<string, unknown>[]>;
  /** Returns the names of the audiences that exist, sorted. */
  names(): Promise<string[]>;
  /** Returns how many creates of audiences and activations the service has received. */
  sent(): number;
}

/** Starts a sandbox without limits, and names a journal. */
export async function startJournalBench(
  options: SandboxOptions = {},
  clientOptions: ClientOptions = {},
): Promise<JournalBench> {
  const bench = await startBench(
    { clock: 'real', limits: NO_LIMITS, ...options },
    { rateLimits: false, ...clientOptions },
  );
  const path = join(await temporaryDirectory(), 'batch.journal');
  return {
    ...bench,
    path,
    async open(client = bench.client) {
      const journal = await openJournal(path, client);
      onTestFinished(() => journal.close());
      return journal;
    },
    lines: async () => parseLines(await readFile(path, 'utf8')),
    async names() {
      const audiences = await bench.client.audiences.list().toArray({ limit: 10_000 });
      return audiences.map(({ name }) => name).sort();
    },
    sent: () => bench.sandbox.log.filter(({ path: to }) => to.endsWith('/create')).length,
  };
}

/** Parses the lines of a journal. */
export const parseLines = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));

/** Lets `after` further lines be written, and the next one fail after half of it: the disk is full. Returns what frees it. */
export async function fillDisk(after: number): Promise<() => void> {
  const probe = await open(process.execPath);
  const handles: FileHandle = Object.getPrototypeOf(probe);
  await probe.close();
  const { appendFile: append } = handles;
  let left = after;
  const full = vi.spyOn(handles, 'appendFile').mockImplementation(async function (this: FileHandle, text) {
    if (left-- > 0) return append.call(this, text);
    await append.call(this, String(text).slice(0, String(text).length / 2));
    throw Object.assign(new Error('ENOSPC: simulated'), { code: 'ENOSPC' });
  });
  const release = (): void => full.mockRestore();
  onTestFinished(release);
  return release;
}

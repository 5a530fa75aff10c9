/**
 * Imports a cohort from a CSV file that the example generates: reserves a slot, uploads the file with a progress bar,
 * claims it, and waits until the cohort is complete.
 *
 * Runs against a sandbox in another process; `node examples/import-cohort.ts customers.csv` imports your file.
 */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { log, progress } from '@clack/prompts';
import { AudienceClient, AudienceError, apiToken, memoryTokenStore } from 'audience-activation';
import { openFile } from 'audience-activation/node';
import { startSandbox } from './support/sandbox.ts';

const ROWS = 500_000;

function* rows(): Generator<string> {
  yield 'email_sha256\n';
  for (let row = 0; row < ROWS; row++) yield `${row.toString(16).padStart(64, '0')}\n`;
}

const directory = await mkdtemp(join(tmpdir(), 'import-cohort-'));
const path = process.argv[2] ?? join(directory, 'customers.csv');
if (process.argv[2] === undefined) await pipeline(Readable.from(rows()), createWriteStream(path));

const service = await startSandbox({ speed: 300 });
const token = apiToken(service.credentials, { store: memoryTokenStore() });
const client = new AudienceClient({ baseUrl: service.url, token });

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
try {
  const file = await openFile(path);
  const bar = progress({ max: file.size, size: 40, style: 'block' });
  bar.start(`Uploading ${mebibytes(file.size)}`);
  let shown = 0;
  const cohort = await client.cohorts.import(
    file,
    { name: 'Customers' },
    {
      onProgress({ loaded, total }) {
        bar.advance(loaded - shown, `${mebibytes(loaded)} of ${mebibytes(total)}`);
        shown = loaded;
      },
      onUploaded: ({ claimBefore }) => bar.stop(`Uploaded; to be claimed before ${claimBefore.toISOString()}`),
      onCreated: ({ id }) => log.step(`Created cohort ${id}.`),
      wait: { onUpdate: ({ status }) => log.step(status.name) },
    },
  );
  log.success(`Cohort ${cohort.id} holds ${cohort.total_eids} EIDs.`);
} catch (error) {
  if (!AudienceError.isInstance(error)) throw error;
  log.error(`${error.name} (${error.code}): ${error.message}`);
  process.exitCode = 1;
} finally {
  await client.close();
  await service.stop();
  await rm(directory, { recursive: true });
}

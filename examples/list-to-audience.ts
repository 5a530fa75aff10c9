/**
 * Turns a list of email addresses into result files: normalizes and hashes the addresses, imports them as a cohort,
 * builds an audience from the cohort, activates the audience and downloads the results.
 *
 * Runs against a sandbox in another process; `node examples/list-to-audience.ts customers.csv` takes your file, with one
 * address in each line below a header.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { log, progress } from '@clack/prompts';
import { AudienceClient, AudienceError, apiToken, explainActivation, memoryTokenStore } from 'audience-activation';
import { downloadTo, openFile } from 'audience-activation/node';
import { startSandbox } from './support/sandbox.ts';

const ROWS = 50_000;

function* addresses(): Generator<string> {
  yield 'email\n';
  for (let row = 0; row < ROWS; row++) yield ` Customer${row}@Example.com\n`;
}

/** Yields the lines of the file to import. Ask the operator of your service for its columns, and how to hash. */
async function* hashed(path: string): AsyncGenerator<string> {
  yield 'email_sha256\n';
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    const address = line.trim().toLowerCase();
    number += 1;
    if (number === 1 || address === '') continue; // the header, and empty lines
    if (!/^[^\s",;]+@[^\s",;]+$/.test(address)) throw new Error(`Line ${number} must be one email address.`);
    yield `${createHash('sha256').update(address).digest('hex')}\n`;
  }
}

const folder = await mkdtemp(join(tmpdir(), 'list-to-audience-'));
const list = process.argv[2] ?? join(folder, 'addresses.csv');
if (process.argv[2] === undefined) await pipeline(Readable.from(addresses()), createWriteStream(list));

const service = await startSandbox({ speed: 300 });
const token = apiToken(service.credentials, { store: memoryTokenStore() });
const client = new AudienceClient({ baseUrl: service.url, token });

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
const wait = { onUpdate: ({ status }: { status: { name: string } }) => log.step(status.name) };
try {
  const hashes = join(folder, 'hashes.csv');
  await pipeline(hashed(list), createWriteStream(hashes));

  const file = await openFile(hashes);
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
      wait,
    },
  );
  log.success(`Cohort ${cohort.id} has ${cohort.total_eids} EIDs.`);

  const audience = await client.audiences.createAndWait({ name: 'Customers', cohort_id: cohort.id }, { wait });
  log.success(`Audience ${audience.id} has ${audience.results_count} devices.`);

  const { allowed, blockers } = explainActivation(audience);
  if (!allowed) throw new Error(blockers.map(({ message }) => message).join(' '));
  const activation = await client.activations.createAndWait(
    { audience_id: audience.id, description: 'Customers' },
    { wait },
  );
  for (const { path, size } of await downloadTo(client, activation, join(folder, 'results'))) {
    log.success(`Saved ${path}: ${mebibytes(size)}`);
  }
} catch (error) {
  if (!AudienceError.isInstance(error)) throw error;
  log.error(String(error));
  process.exitCode = 1;
} finally {
  await client.close();
  await service.stop();
  await rm(folder, { recursive: true });
}

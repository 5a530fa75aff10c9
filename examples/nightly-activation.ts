/**
 * Builds the audiences of a JSON file such as {"north": {"name": "North", "dataset": […]}}, activates those that may be
 * activated, and saves their files. Killed and started again on the same day, it continues, and creates nothing twice.
 * From a shell, `aud run` does the same.
 *
 * `node examples/nightly-activation.ts regions.json results` needs AUDIENCE_BASE_URL and AUDIENCE_TOKEN.
 */
import { readFile } from 'node:fs/promises';
import { AudienceClient, type AudienceCreate, explainActivation } from 'audience-activation';
import { downloadTo, openJournal } from 'audience-activation/node';

const [file = 'regions.json', folder = 'results'] = process.argv.slice(2);
const regions: Record<string, AudienceCreate> = JSON.parse(await readFile(file, 'utf8'));
const day = new Date().toISOString().slice(0, 10);

// Waits for the build budget, too.
await using client = new AudienceClient({ maxRetryWait: 86_400_000 });
// A key stands for one body as long as the journal is kept, so that each night has its own.
await using journal = await openJournal(`${file}.${day}.journal`, client);

async function activate(key: string, body: AudienceCreate): Promise<void> {
  const audience = await client.audiences.wait(await journal.create(client.audiences, key, body));
  const { allowed, blockers } = explainActivation(audience);
  if (!allowed) return console.log(`${key}: ${blockers.map(({ message }) => message).join(' ')}`);
  const id = await journal.create(client.activations, `${key} activation`, { audience_id: audience.id });
  const files = await downloadTo(client, await client.activations.wait(id), `${folder}/${day}/${key}`);
  console.log(`${key}: ${files.map(({ path }) => path).join(' ')}`);
}

const ends = await Promise.allSettled(Object.entries(regions).map(([key, body]) => activate(key, body)));
for (const end of ends) if (end.status === 'rejected') console.error(String(end.reason));
if (ends.some(({ status }) => status === 'rejected')) process.exitCode = 1;

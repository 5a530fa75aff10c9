/**
 * Builds the audiences of a JSON file such as {"north": {"name": "North", "dataset": […]}}, activates those that may be
 * activated, and saves their files. Killed and started again, it continues, and creates nothing twice. After midnight,
 * continue a night with its day: DAY=2026-11-24. To build once more what has failed: `await journal.forget('north')`.
 * From a shell, `aud run` does the same.
 *
 * `node examples/nightly-activation.ts regions.json` needs AUDIENCE_BASE_URL and AUDIENCE_TOKEN.
 */
import { readFile } from 'node:fs/promises';
import { AudienceClient, type AudienceCreate, explainActivation } from 'audience-activation';
import { downloadTo, openJournal } from 'audience-activation/node';

const regions: Record<string, AudienceCreate> = JSON.parse(await readFile(process.argv[2] ?? 'regions.json', 'utf8'));
const day = process.env.DAY ?? new Date().toISOString().slice(0, 10);
// Waits for the build budget, too.
await using client = new AudienceClient({ maxRetryWait: 86_400_000 });
// Each key is bound to one body for as long as you keep the journal, so each night has its own journal.
await using journal = await openJournal(`regions.${day}.journal`, client);

async function activate(key: string, body: AudienceCreate): Promise<void> {
  const audience = await client.audiences.wait(await journal.create(client.audiences, key, body));
  if (!explainActivation(audience).allowed) return console.log(`${key}: built, but it cannot be activated`);
  const id = await journal.create(client.activations, `${key} activation`, { audience_id: audience.id });
  await downloadTo(client, await client.activations.wait(id), `results/${day}/${key}`);
}

const ends = await Promise.allSettled(Object.entries(regions).map(([key, body]) => activate(key, body)));
const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
for (const error of errors) console.error(String(error));
process.exitCode = errors.length > 0 ? 1 : 0;

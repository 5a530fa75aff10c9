/** What the built package does while its parts are not loaded yet; told as one line of JSON. */
import { AudienceClient } from 'audience-activation';
import { createSandbox } from 'audience-activation/sandbox';

const sandbox = createSandbox({ jobs: { duration: 0 } });
const account = sandbox.accounts.create({ email: 'a@example.com', password: 'x' });
const clientOf = (): AudienceClient =>
  new AudienceClient({ baseUrl: 'https://api.example.com', token: account.token('api'), fetch: sandbox.fetch });
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: unknown) => error,
  );
const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : error);

// Before anything is loaded: aborts and closes end what waits for the parts.
const closing = clientOf();
const closed = failureOf(closing.audiences.wait(1));
await closing.close();
const abort = new AbortController();
const aborting = clientOf();
const aborted = Promise.all(
  [
    aborting.audiences.wait(1, { signal: abort.signal }),
    aborting.audiences.get(1, { signal: abort.signal }),
    aborting.audiences.createAndWait({}, { signal: abort.signal }),
  ].map(failureOf),
);
abort.abort('mine');
const walk = aborting.audiences.watch(1)[Symbol.asyncIterator]();
const ending = walk.return?.();
const after = await walk.next();
const returned = await ending;

const client = clientOf();
const { id } = await client.audiences.create({ name: 'First' });
const waits = [1, 2, 3].map(() => client.audiences.wait(id));
const { size } = client.waits;
const heard = client.waits.notify({ type: 'audience.completed', data: { id } });
const ended = await Promise.all(waits);
const reads = sandbox.log.filter(({ method }) => method === 'GET').length;
console.log(
  JSON.stringify({
    closed: codeOf(await closed),
    aborted: await aborted,
    returned,
    after,
    walks: aborting.waits.size,
    size,
    heard,
    statuses: ended.map(({ status }) => status.id),
    reads,
    creates: sandbox.log.filter(({ method }) => method === 'POST').length,
    left: client.waits.size,
  }),
);
await client.close();

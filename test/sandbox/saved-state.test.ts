import { describe, expect, it } from 'vitest';
import { createSandbox, type Sandbox, type SandboxOptions, type SandboxState } from '../../src/sandbox/index.ts';
import { randomOf, seeded } from '../support/seeded.ts';
import { runs } from '../support/volume.ts';
import { credentials, HOUR, MINUTE, startSandbox } from './support/sandbox-calls.ts';

const START = Date.UTC(2026, 0, 1);

/** Saves a state to JSON text and back, as a file does. */
const throughJson = (state: SandboxState): SandboxState => JSON.parse(JSON.stringify(state));

/** A history of random requests, actions of the console, and time, which depends on its seed alone. */
class History {
  readonly answers: string[] = [];
  readonly #random: () => number;
  readonly #options: SandboxOptions;
  #sandbox: Sandbox;
  #key = 0;
  #tokens: string[] = [];
  #clientId = '';
  #uploads: { readonly reference: string; readonly url: string }[] = [];

  constructor(seed: number) {
    this.#random = randomOf(seed);
    this.#options = {
      seed,
      clock: 'manual',
      start: START,
      jobs: { duration: ({ id }) => (id % 7) * MINUTE, outcome: ({ id }) => (id % 5 === 0 ? 107 : 104) },
      limits: { write: { limit: 20, interval: MINUTE }, buildsPerHour: 12 },
      deliver: async (request) => new Response(null, { status: request.url.endsWith('/down') ? 500 : 204 }),
    };
    this.#sandbox = createSandbox(this.#options);
    this.#sandbox.accounts.create(credentials);
    this.#sandbox.accounts.create({ email: 'bo@example.com', password: 'x', company: 'Other' });
    for (const name of ['up', 'down']) this.#sandbox.webhooks.create({ name, url: `https://example.com/${name}` });
    this.#tokens = this.#accounts.flatMap((account) => [account.token('api'), account.token('mcp')]);
  }

  get #accounts() {
    return this.#sandbox.accounts.list();
  }

  /** Resolves when no delivery is in flight. */
  settle(): Promise<void> {
    return this.#sandbox.advance(0);
  }

  /** Continues with its saved state, in another sandbox or in the same one. */
  async moveOn(isSame: boolean): Promise<void> {
    const state = throughJson(this.#sandbox.save());
    if (isSame) {
      this.#sandbox.restore(state);
      return;
    }
    await this.#sandbox.close();
    const { seed, start, ...options } = this.#options;
    this.#sandbox = createSandbox({ ...options, state });
  }

  async step(): Promise<void> {
    const token = this.#pick(this.#tokens);
    const id = 1 + this.#below(60);
    const steps: (() => Promise<unknown> | unknown)[] = [
      () => this.#call('POST', '/audiences/create', token, { name: `A${id}` }),
      () => this.#call('POST', '/audiences/create', token, { name: 'again' }, `key-${this.#below(this.#key++ + 1)}`),
      () => this.#call('POST', '/estimates/create', token, { name: 'E' }),
      () => this.#call('POST', '/lookalikes/create', token, { source_audience_id: id, config: { target_size: 5_000 } }),
      () => this.#call('POST', '/lookalikes/cancel', token, { id }),
      () => this.#call('POST', '/activations/create', token, { audience_id: id }),
      () => this.#call('POST', '/cohorts/create', token, { name: 'C' }),
      () => this.#call('POST', '/projects/create', token, { name: 'P' }),
      () => this.#call('POST', '/schedules/create', token, { audience_id: id, interval_hours: 0.5 }),
      () => this.#call('GET', `/audiences/${id}`, token),
      () => this.#call('GET', '/audiences/index', token),
      () => this.#call('GET', '/activations/index', token),
      () => this.#call('GET', '/cohorts/index', token),
      () => this.#call('GET', '/usage', token),
      () => this.#call('GET', '/webhooks/index', token),
      () => this.#call('POST', `/audiences/${id}/delete`, token),
      () => this.#call('POST', '/auth/login', '', credentials),
      () => this.#upload(token),
      () => this.#claim(token),
      () => this.#register(),
      () => this.#sandbox.advance(this.#below(20) * MINUTE),
      () => this.#sandbox.advance(this.#below(3) * HOUR),
      () => this.#sandbox.jobs.next('audience', { status: 422, reason: 'planned', duration: MINUTE }),
      () => this.#finish(),
      () => this.answers.push(JSON.stringify(this.#accounts.map((one) => [one.tokens(), one.notifications]))),
      () => this.answers.push(JSON.stringify(this.#sandbox.jobs.running)),
      () => this.answers.push(String(this.#sandbox.jobs.reason('audience', id))),
      () => this.#sandbox.webhooks.test(this.#endpoint()),
      () => this.#sandbox.webhooks.redeliver(this.#pick(this.#sandbox.webhooks.deliveries).eventId),
      () =>
        this.#call('POST', '/activations/create', token, { audience_id: id, datastreams: ['devices', 'locations'] }),
      () => this.#call('POST', '/cohorts/create', token, { source_audience_id: id }),
      () => this.#call('POST', '/audiences/create', token, { cohort_id: id }),
      () => this.#call('POST', '/schedules/create', token, { cohort_id: id, interval_hours: 1 }),
    ];
    try {
      await this.#pick(steps)();
    } catch (error) {
      this.answers.push(String(error));
    }
  }

  /** Everything that can be seen at the end. */
  async end(): Promise<unknown> {
    await this.#sandbox.advance(12 * HOUR);
    const { log, webhooks, jobs } = this.#sandbox;
    for (const token of this.#tokens) await this.#call('GET', '/audiences/index', token);
    const end = { answers: this.answers, log: [...log], deliveries: webhooks.deliveries, running: jobs.running };
    await this.#sandbox.close();
    return end;
  }

  #endpoint(): number {
    return this.#pick([3, 4, 5, 6]);
  }

  #finish(): void {
    const [job] = this.#sandbox.jobs.running;
    if (job) this.#sandbox.jobs.finish(job.kind, job.id, job.kind === 'cohort' ? 4 : 104);
  }

  async #upload(token: string): Promise<void> {
    const data = await this.#call('POST', '/uploads/create', token, { kind: 'cohort' });
    if (!data?.reference) return;
    this.#uploads.push(data);
    const response = await this.#sandbox.fetch(data.url, { method: 'PUT', body: 'id\n1\n2\n' });
    this.answers.push(String(response.status));
  }

  async #claim(token: string): Promise<void> {
    const upload_reference = this.#uploads.at(-1)?.reference;
    await this.#call('POST', '/cohorts/create', token, { name: 'file', upload_reference });
  }

  async #register(): Promise<void> {
    const client = { client_name: 'x', redirect_uris: ['http://127.0.0.1/cb'], token_endpoint_auth_method: 'none' };
    const [account] = this.#accounts;
    if (this.#clientId === '') {
      const response = await this.#send('POST', '/oauth/register', '', client);
      this.#clientId = JSON.parse(response).client_id;
      return;
    }
    const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
    const query = new URLSearchParams({
      client_id: this.#clientId,
      response_type: 'code',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    if (!account) return;
    const redirect = this.#sandbox.oauth.consent(account, `http://sandbox/oauth/authorize?${query}`);
    const code = new URL(redirect).searchParams.get('code') ?? '';
    const body = new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: this.#clientId,
      code,
      code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    });
    const response = await this.#sandbox.fetch('http://sandbox/oauth/token', { method: 'POST', body });
    const text = await response.text();
    this.answers.push(text);
    const { access_token } = JSON.parse(text);
    if (typeof access_token === 'string') this.#tokens.push(access_token);
    this.answers.push(JSON.stringify(account.connections()));
  }

  async #call(method: string, path: string, token: string, body?: object, key?: string) {
    const text = await this.#send(method, `/api/v2${path}`, token, body, key);
    return JSON.parse(text).data;
  }

  async #send(method: string, path: string, token: string, body?: object, key?: string): Promise<string> {
    const headers = {
      accept: 'application/json',
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    };
    const response = await this.#sandbox.fetch(`http://sandbox${path}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    this.answers.push(`${method} ${path} ${response.status} ${response.headers.get('retry-after')} ${text}`);
    return text;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  #pick<T>(values: readonly T[]): T {
    return values[this.#below(values.length)] as T;
  }
}

/** Returns a state whose clock shows another time. */
function withClock(state: SandboxState, now: number): SandboxState {
  const data = [...(state.data as [{ readonly now: number }, ...unknown[]])];
  data[(data[0] as { readonly now: number }).now] = now;
  return { ...state, data };
}

describe('a saved state', () => {
  it('continues as the sandbox that was saved would: random histories', async () => {
    const random = seeded('saved state');
    for (let round = runs(4, 100, 500); round > 0; round--) {
      const seed = Math.floor(random() * 2 ** 31);
      const steps = 40 + Math.floor(random() * 60);
      const moveAt = Math.floor(random() * steps);
      const [usual, moved] = [new History(seed), new History(seed)];
      for (let step = 0; step < steps; step++) {
        if (step === moveAt) {
          // Attempts in flight would be made again.
          await Promise.all([usual.settle(), moved.settle()]);
          await moved.moveOn(round % 3 === 0);
        }
        await usual.step();
        await moved.step();
      }
      expect(await moved.end(), `seed ${seed}, saved before step ${moveAt}`).toEqual(await usual.end());
    }
  });

  it('makes a delivery that is in flight again, and forgets a create that is', async () => {
    const release = Promise.withResolvers<Response>();
    let attempts = 0;
    const deliver = (): Promise<Response> => {
      attempts++;
      return release.promise;
    };
    const { sandbox, create, token } = startSandbox({
      deliver,
      faults: [{ on: 'audiences.create', inFlight: 60_000 }],
    });
    const { id } = sandbox.webhooks.create({ url: 'https://example.com/' });
    sandbox.webhooks.test(id);
    const creating = create(token, 'key-1').catch(() => undefined);
    await expect.poll(async () => (await create(token, 'key-1')).status).toBe(409);
    const state = throughJson(sandbox.save());
    const continued = createSandbox({ clock: 'manual', state, deliver: async () => new Response() });
    await continued.advance(0);
    expect(attempts).toBe(1);
    expect(continued.webhooks.deliveries).toMatchObject([{ type: 'webhook.test', attempt: 1, status: 200 }]);
    const headers = { accept: 'application/json', authorization: `Bearer ${token}`, 'idempotency-key': 'key-1' };
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: '{"name":"x"}' };
    expect((await continued.fetch('http://sandbox/api/v2/audiences/create', init)).status).toBe(200);
    await sandbox.close();
    release.resolve(new Response());
    await creating;
  });

  it('a saved state of a real clock continues at the current time, and what was due meanwhile has happened', async () => {
    const { sandbox, create, token } = startSandbox({ clock: 'manual', start: Date.now() - 2 * HOUR });
    const audience = (await create(token)).body.data[0];
    const before = Date.now();
    const continued = createSandbox({ state: sandbox.save() });
    expect(continued.now()).toBeGreaterThanOrEqual(before);
    // The clock counts parts of a millisecond.
    expect(Math.floor(continued.now())).toBeLessThanOrEqual(Date.now());
    expect(continued.jobs.running).toEqual([]);
    const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
    const response = await continued.fetch(`http://sandbox/api/v2/audiences/${audience.id}`, { headers });
    const { data } = await response.json();
    expect(data[0].status.id).toBe(104);
    expect(Date.parse(`${data[0].updated_at}Z`)).toBeLessThan(Date.now() - HOUR);
  });

  it('a saved state of a clock that was ahead continues there', async () => {
    const { sandbox } = startSandbox({ clock: 'real' });
    await sandbox.advance(24 * HOUR);
    expect(createSandbox({ state: sandbox.save() }).now()).toBeGreaterThan(Date.now() + 23 * HOUR);
  });

  it('is not changed by the sandbox that continues, nor by the one that was saved', async () => {
    const { sandbox, create, token } = startSandbox();
    const state = sandbox.save();
    const text = JSON.stringify(state);
    await create(token);
    const continued = createSandbox({ clock: 'manual', state });
    continued.accounts.create({ email: 'new@example.com', password: 'x' });
    expect(JSON.stringify(state)).toBe(text);
    expect(sandbox.accounts.list()).toHaveLength(1);
    expect(continued.accounts.list().map(({ email }) => email)).toEqual([credentials.email, 'new@example.com']);
  });

  it.each<[string, (state: SandboxState) => unknown, RegExp]>([
    ['no state', () => 'x', /`state` must be the result of `sandbox.save\(\)`/],
    ['of a newer version', (state) => ({ ...state, version: 2 }), /of version 2, which only a newer/],
    ['without data', ({ version, seed, now }) => ({ version, seed, now }), /`state` is damaged/],
    ['from before 1970', (state) => withClock(state, -1), /its clock is at -1/],
    ['from after the year 9000', (state) => withClock(state, 1e15), /its clock is at 1000000000000000/],
    ['cut', (state) => ({ ...state, data: (state.data as unknown[]).slice(0, 10) }), /`state` is damaged/],
  ])('a saved state that is %s is refused', (_, damage, message) => {
    const state = damage(throughJson(startSandbox().sandbox.save())) as SandboxState;
    expect(() => createSandbox({ state })).toThrow(message);
  });

  it.each(['log', 'tokens', 'nextId', 'tasks', 'jobs', 'random', 'attempts', 'idempotencyKeys'])(
    'a saved state without its `%s` is refused with a sentence, and the sandbox stays as it was',
    async (part) => {
      const { sandbox, create, token } = startSandbox();
      const damaged = JSON.parse(JSON.stringify(sandbox.save()), (key, value) => (key === part ? undefined : value));
      await create(token);
      const before = sandbox.save();
      expect(() => sandbox.restore(damaged)).toThrow(
        /`state` is damaged: its `.*` is missing or of another type. Nothing was changed\./,
      );
      expect(sandbox.save()).toEqual(before);
    },
  );

  it('a saved state of a version that lacked a namespace continues with that namespace empty', async () => {
    const { sandbox, token } = startSandbox();
    const state = JSON.parse(JSON.stringify(sandbox.save()), (key, value) => (key === 'schedules' ? undefined : value));
    const continued = createSandbox({ clock: 'manual', state });
    const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
    const response = await continued.fetch('http://sandbox/api/v2/schedules/index', { headers });
    expect(await response.json()).toMatchObject({ code: 200, data: [] });
  });

  it('a saved state of another seed is refused', () => {
    const state = startSandbox({ seed: 5 }).sandbox.save();
    expect(() => createSandbox({ state, seed: 6 })).toThrow('`state` was saved with the seed 5, not 6');
    expect(createSandbox({ state, seed: 5 }).accounts.list()).toHaveLength(1);
  });
});

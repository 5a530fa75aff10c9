import type { Adapter, AdapterPayload } from 'oidc-provider';

/** In-memory storage of an authorization server for one model (`AccessToken`, `Grant`, …). */
export class OidcStorage implements Adapter {
  readonly #items = new Map<string, AdapterPayload>();

  async upsert(id: string, payload: AdapterPayload): Promise<void> {
    this.#items.set(id, payload);
  }

  async find(id: string): Promise<AdapterPayload | undefined> {
    return this.#items.get(id);
  }

  async findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return [...this.#items.values()].find((payload) => payload.uid === uid);
  }

  async findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return [...this.#items.values()].find((payload) => payload.userCode === userCode);
  }

  async consume(id: string): Promise<void> {
    const payload = this.#items.get(id);
    if (payload) payload.consumed = Math.floor(Date.now() / 1000);
  }

  async destroy(id: string): Promise<void> {
    this.#items.delete(id);
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const [id, payload] of this.#items) if (payload.grantId === grantId) this.#items.delete(id);
  }

  clear(): void {
    this.#items.clear();
  }
}

import { AudienceError, check } from '../errors/audience-error.ts';
import { messageOf } from '../util/callbacks.ts';

/** Key-value storage of a page: `sessionStorage`, or your own implementation, which may be asynchronous. */
export interface TextStorage {
  /** Returns the value of a key, or `null` or `undefined` if the key has no value. */
  getItem(key: string): string | null | undefined | PromiseLike<string | null | undefined>;
  /** Stores a value. Throws or rejects on failure. */
  setItem(key: string, value: string): unknown;
  /** Deletes the value of a key. */
  removeItem(key: string): unknown;
}

const NAME = 'audience-activation';

/** Creates a storage in IndexedDB. After a tab has written an entry, every tab of the origin reads the new value. */
export function indexedDbStorage(): TextStorage {
  check(
    globalThis.indexedDB !== undefined,
    '`browserTokenStore` needs IndexedDB, or another `storage`.',
    'In Node, use `fileTokenStore` of `audience-activation/node`.',
  );
  return {
    getItem: (key) => execute('readonly', (entries) => entries.get(key)),
    setItem: (key, value) => execute('readwrite', (entries) => entries.put(value, key)),
    removeItem: (key) => execute('readwrite', (entries) => entries.delete(key)),
  };
}

/** Executes a request in its own transaction and connection, because browsers may close a connection that stays open. */
async function execute<T>(mode: IDBTransactionMode, request: (entries: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await open();
  try {
    // Use `strict`, so that a replaced refresh token cannot reappear after a power failure.
    const transaction = database.transaction(NAME, mode, { durability: 'strict' });
    const { result } = await new Promise<IDBRequest<T>>((resolve, reject) => {
      const sent = request(transaction.objectStore(NAME));
      transaction.oncomplete = () => resolve(sent);
      transaction.onabort = () => reject(transaction.error);
    });
    return result;
  } finally {
    database.close();
  }
}

function open(): Promise<IDBDatabase> {
  return new Promise<IDBDatabase>((resolve, reject) => {
    const opening = indexedDB.open(NAME);
    opening.onupgradeneeded = () => opening.result.createObjectStore(NAME);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  }).catch((cause: unknown) => {
    const message = `IndexedDB cannot be opened (${messageOf(cause)}). Browsers refuse IndexedDB in sandboxed frames and where the user blocks site data.`;
    throw new AudienceError(message, {
      code: 'token-unavailable',
      cause,
      advice: 'Pass another `storage` in these cases.',
    });
  });
}

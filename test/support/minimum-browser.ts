/** Built-ins that the oldest supported browsers lack: see `BROWSERS` in tsup.config.ts. The types of `ES2024` lack most. */
const NEWER = {
  Array: 'fromAsync',
  AsyncDisposableStack: '',
  Blob: 'bytes textStream',
  DisposableStack: '',
  Error: 'isError',
  Float16Array: '',
  Iterator: 'drop every filter find flatMap forEach from map reduce some take toArray',
  Promise: 'try',
  ReadableByteStreamController: '',
  ReadableStream: '@@asyncIterator from values',
  ReadableStreamBYOBReader: '',
  RegExp: 'escape',
  Request: 'body bytes duplex keepalive',
  Response: 'bytes',
  Set: 'difference intersection isDisjointFrom isSubsetOf isSupersetOf symmetricDifference union',
  SuppressedError: '',
  Symbol: 'asyncDispose dispose',
  URL: 'parse',
  URLPattern: '',
  Uint8Array: 'fromBase64 fromHex setFromBase64 setFromHex toBase64 toHex',
};

// Makes this browser the oldest that is supported.
for (const [owner, members] of Object.entries(NEWER)) {
  const { [owner]: type } = globalThis as unknown as Record<string, { readonly prototype?: object } | undefined>;
  if (members === '') Reflect.deleteProperty(globalThis, owner);
  for (const member of members.split(' ')) {
    const key = member.startsWith('@@') ? Object(Symbol)[member.slice(2)] : member;
    for (const target of [type, type?.prototype]) if (target && key !== undefined) Reflect.deleteProperty(target, key);
  }
}

import { type Activation, AudienceClient, AudienceError } from '../../../../src/index.ts';

/** How a transfer ended in the page. */
export interface Ended {
  /** Name of the error; `undefined` for a success. */
  readonly error?: string;
  readonly code?: string;
  /** Values of `onProgress`. */
  readonly progress: readonly { readonly loaded: number; readonly total?: number | undefined }[];
}

const client = new AudienceClient({
  baseUrl: location.origin,
  token: 'token',
  backoff: { min: 1, max: 5 },
  logLevel: 'off',
});

async function end(transfer: (progress: Ended['progress'][number][]) => Promise<unknown>): Promise<Ended> {
  const progress: Ended['progress'][number][] = [];
  try {
    await transfer(progress);
    return { progress };
  } catch (error) {
    const code = AudienceError.isInstance(error) ? error.code : 'unknown';
    return { error: error instanceof Error ? error.name : String(error), code, progress };
  }
}

const calls = {
  /** Downloads a file of the storage and discards its bytes. */
  download: (uri: string): Promise<Ended> =>
    end(async (progress) => {
      const status = { id: 104, name: 'Completed' };
      const activation = { id: 7, status, datastreams: [{ name: 'devices', results: { uri } }] };
      const options = {
        maxRetries: 0,
        onProgress: ({ loaded, total }: Ended['progress'][number]) => progress.push({ loaded, total }),
      };
      const downloads = client.activations.download(activation as unknown as Activation, options);
      for await (const { open } of downloads) await (await open()).pipeTo(new WritableStream());
    }),
  /** Uploads the file that is selected in the page's input. */
  upload: (url: string): Promise<Ended> =>
    end(async (progress) => {
      const [file] = document.querySelector('input')?.files ?? [];
      if (!file) throw new Error('No file is selected.');
      const slot = { reference: 'upl_1', url, expires_at: '' };
      await client.uploads.send(slot, file, { onProgress: (value) => progress.push(value) });
    }),
};

declare global {
  /** Set in the page. */
  var transfers: typeof calls;
}

globalThis.transfers = calls;

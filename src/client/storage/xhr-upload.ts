import { abortable, onAbort } from '../../util/abort.ts';
import { redirectFailure } from './storage-errors.ts';
import type { Transfer } from './transfer.ts';
import type { UploadSource } from './upload-source.ts';

/** One attempt to send a file. */
export interface PutRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly source: UploadSource;
  readonly transfer: Transfer;
  /** Aborts with the transfer, and after `idleTimeout` without a transferred byte. */
  readonly signal: AbortSignal;
  /** Called with the number of bytes sent so far. */
  readonly onBytes: (bytes: number) => void;
}

/**
 * Sends a file with XMLHttpRequest, because in browsers only XMLHttpRequest reports upload progress. It cannot refuse
 * redirects, so the upload fails after a redirect.
 */
export async function putByXhr({ url, headers, source, transfer, signal, onBytes }: PutRequest): Promise<Response> {
  const data = await abortable(source.blob(), signal);
  // Parse the URL here: in a page that is not UTF-8, `open` would encode the query differently than `fetch`.
  const { href } = new URL(url);
  signal.throwIfAborted();
  const xhr = new XMLHttpRequest();
  const unsubscribe = onAbort(signal, () => xhr.abort());
  let received: ResponseInit | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      // Once the status is known, a failure of the body does not matter.
      const settle = (reason: () => unknown) => (): void => (received ? resolve() : reject(reason()));
      xhr.open('PUT', href);
      // Firefox would parse the response as XML, and log the URL with its signature if that fails.
      xhr.responseType = 'text';
      for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
      xhr.upload.onprogress = ({ loaded }) => onBytes(loaded);
      xhr.onreadystatechange = () => {
        if (xhr.readyState === xhr.HEADERS_RECEIVED) received = { status: xhr.status, headers: headersOf(xhr) };
      };
      xhr.onload = () => resolve();
      xhr.onabort = settle(() => signal.reason);
      xhr.onerror = settle(() => new TypeError('Failed to fetch'));
      xhr.send(data);
    });
  } catch (error) {
    // If the file has changed, the browser reports only a network error. Read the file to find the reason.
    if (!signal.aborted) await source.verify(signal);
    throw error;
  } finally {
    unsubscribe();
  }
  if (xhr.responseURL !== '' && normalized(xhr.responseURL) !== normalized(href)) throw redirectFailure(transfer.event);
  return new Response(xhr.responseText || null, received);
}

/** Returns a URL without its fragment and with normalized escapes (RFC 3986, section 6.2.2), as WebKit sends it. */
function normalized(href: string): string {
  return href.replace(/#.*/, '').replace(/%[\da-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
}

function headersOf(xhr: XMLHttpRequest): Headers {
  const headers = new Headers();
  for (const [, name = '', value = ''] of xhr.getAllResponseHeaders().matchAll(/^([^:\r\n]+):(.*)$/gm)) {
    headers.append(name, value.trim());
  }
  return headers;
}

import { ResponseError } from '../../errors/call-errors.ts';
import { ResultsNotReadyError } from '../../errors/job-errors.ts';
import type { Activation } from '../../spec/activation.ts';
import { jobState, statusText } from '../../spec/job-status.ts';
import { fromCallSite } from '../../util/call-site.ts';
import { isObject, jsonTypeOf } from '../../util/json.ts';
import type { RequestOptions, Settings } from '../http/request-options.ts';
import type { Transport } from '../http/transport.ts';
import { jobError } from '../polling/wait-errors.ts';
import { openDownload } from '../storage/download.ts';
import type { TransferOptions } from '../storage/transfer.ts';

/** A result file of a completed activation. */
export interface ActivationResult {
  /** Name of the datastream. */
  readonly name: string;
  /**
   * Link to the file, or an empty string if the service returns no link. The client resolves a link that begins with
   * `/` against the origin of the service. The link may contain a signature, so treat it as a secret.
   */
  readonly uri: string;
}

/** Progress of a download, in bytes. */
export interface DownloadProgress {
  /** Name of the datastream. */
  readonly name: string;
  /** Bytes received so far, including bytes from earlier requests of a resumed download. */
  readonly loaded: number;
  /**
   * Length of the file in bytes. `undefined` while unknown, for example for a compressed file. Equals `loaded` at the
   * end.
   */
  readonly total: number | undefined;
}

/** Options of a download. */
export interface DownloadOptions extends TransferOptions, Pick<RequestOptions, 'token'> {
  /**
   * Called while bytes arrive, at most every 50 ms, and at the end. If `onProgress` throws, the client logs the error,
   * and the download continues.
   */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** A result file to download. */
export interface Download {
  /** Name of the datastream. */
  readonly name: string;
  /**
   * File name that is valid on common file systems and unique among the results of the activation. If `fetch`
   * decompresses the file, `open()` removes the extension of the compression, such as `.gz`, from the name.
   */
  readonly fileName: string;
  /**
   * Starts the download, which continues as you read the stream. Cancel the stream or abort the signal to stop. Both
   * the method and the stream fail with typed errors.
   */
  open(signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

/**
 * Returns the results of a completed activation.
 *
 * @throws {ResultsNotReadyError} while the job is running; {@link JobError} if the job has ended without completing;
 * {@link ResponseError} if the datastreams, or the name of a result, cannot be read.
 */
export function resultsOf(
  activation: Activation,
  { redactor, statuses, baseUrl }: Pick<Settings, 'redactor' | 'statuses' | 'baseUrl'>,
): ActivationResult[] {
  const state = jobState('activation', activation, statuses);
  const { id, status, datastreams } = activation;
  if (state === 'running') {
    const message = `Activation ${id} has the status ${redactor.text(statusText(status), 200)}. The results are available at status 104.`;
    const advice = `Wait for the activation with \`activations.wait(${id})\`.`;
    throw new ResultsNotReadyError(message, {
      kind: 'activation',
      id,
      resource: redactor.resource(activation),
      advice,
    });
  }
  if (state !== 'completed') throw jobError('activation', activation, state, redactor);
  if (!Array.isArray(datastreams)) throw unreadable(id, 'datastreams', datastreams, 'an array');
  return datastreams.map((stream: unknown, index) => resultOf(id, `datastreams.${index}`, stream, baseUrl));
}

/**
 * Returns the name and the URI of a result. The URI is empty if the datastream has no file, so that the other files
 * stay available.
 */
function resultOf(id: number, field: string, stream: unknown, baseUrl: string): ActivationResult {
  if (!isObject(stream)) throw unreadable(id, field, stream, 'an object');
  const { name, results } = stream;
  if (typeof name !== 'string') throw unreadable(id, `${field}.name`, name, 'a string');
  const uri = isObject(results) && typeof results.uri === 'string' ? results.uri : '';
  const isRelative = uri.startsWith('/') && URL.canParse(uri, baseUrl);
  return { name, uri: isRelative ? new URL(uri, baseUrl).href : uri };
}

function unreadable(id: number, field: string, value: unknown, expected: string): ResponseError {
  const message = `The results of activation ${id} cannot be read: \`${field}\` is ${jsonTypeOf(value)}, but must be ${expected}.`;
  const advice = 'Check the results in the response of activations.get.';
  return new ResponseError(message, { status: 200, operation: 'activations.results', attempts: 0, body: '', advice });
}

/** Returns the results as downloads. `read` reads the results again when links have expired. */
export function downloadsOf(
  results: readonly ActivationResult[],
  read: (signal: AbortSignal) => Promise<ActivationResult[]>,
  transport: Transport,
  { onProgress, ...options }: DownloadOptions,
): Download[] {
  const used = new Map<string, number>();
  let latest = results;
  const linkOf = (name: string, at: number): URL => {
    const result = latest[at]?.name === name ? latest[at] : latest.find((other) => other.name === name);
    return httpUrl(name, result?.uri ?? '');
  };
  return results.map(({ name, uri }, at) => {
    let fileName = uniqueName(fileNameOf(name, uri), used);
    const onEncoding = (encoding: string): void => {
      const extension = EXTENSIONS.get(encoding.toLowerCase());
      if (extension && fileName.toLowerCase().endsWith(extension))
        fileName = uniqueName(fileName.slice(0, -extension.length), used);
    };
    return {
      name,
      get fileName() {
        return fileName;
      },
      open: (signal = options.signal) =>
        fromCallSite(async () => {
          const report = onProgress && ((loaded: number, total?: number) => onProgress({ name, loaded, total }));
          const renew = async (whileReading: AbortSignal): Promise<URL> => {
            latest = await read(whileReading);
            return linkOf(name, at);
          };
          const url = linkOf(name, at);
          const plan = { transport, url, renew, options: { ...options, signal }, onProgress: report, onEncoding };
          return openDownload(plan);
        }, signal),
    };
  });
}

/** Extensions of the compressions that `fetch` removes, by their `Content-Encoding`. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['gzip', '.gz'],
  ['x-gzip', '.gz'],
  ['br', '.br'],
  // The `fetch` of Node 22 does not decompress this encoding.
  ...(globalThis.process?.versions?.undici?.startsWith('6.') ? [] : [['zstd', '.zst'] as const]),
]);

/** Maximum length of a name in an error, in characters. */
const MAX_SHOWN_NAME_LENGTH = 200;

function httpUrl(name: string, uri: string): URL {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  const actual = url ? `a ${url.protocol} link` : uri === '' ? 'missing' : 'not a link';
  const message = `The URI of result "${name.slice(0, MAX_SHOWN_NAME_LENGTH)}" must be an http(s) link, but it is ${actual}.`;
  const advice = 'Check the results in the response of activations.get.';
  throw new ResponseError(message, { status: 200, operation: 'activations.download', attempts: 0, body: '', advice });
}

/**
 * Maximum length of a name in bytes of UTF-8. File systems allow 255 bytes; the difference is for an added number and
 * the extension.
 */
const MAX_NAME_LENGTH = 200;

/** Names that Windows reserves for devices. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|(?:com|lpt)[\d¹²³]) *(?:\.|$)/i;

/** Returns the datastream's name with the URI's extension, without characters that could lead to another directory. */
function fileNameOf(name: string, uri: string): string {
  const path = URL.canParse(uri) ? new URL(uri).pathname : '';
  const [extension = ''] = /(?:\.[A-Za-z0-9]{1,8}){1,2}$/.exec(path) ?? [];
  const safe = name.normalize().replace(/[^\p{L}\p{N}._ -]+/gu, '_');
  const { read } = new TextEncoder().encodeInto(safe, new Uint8Array(MAX_NAME_LENGTH));
  const stem = safe.slice(0, read).replace(/^[. ]+|[. ]+$/g, '') || 'results';
  const fileName = stem.toLowerCase().endsWith(extension.toLowerCase()) ? stem : stem + extension;
  return DEVICE_NAME.test(fileName) ? `_${fileName}` : fileName;
}

/**
 * Returns a name that is not in use, with a number if necessary. `used` contains the next number of each name. Its
 * names are in lower case, because file systems may ignore case.
 */
function uniqueName(name: string, used: Map<string, number>): string {
  let unique = name;
  let n = used.get(name.toLowerCase()) ?? 2;
  for (; used.has(unique.toLowerCase()); n++) unique = name.replace(/(\.[^.]*)?$/, `-${n}$1`);
  used.set(unique.toLowerCase(), 2);
  used.set(name.toLowerCase(), n);
  return unique;
}

import { ResponseError } from '../errors/call-errors.ts';
import { ResultsNotReadyError } from '../errors/job-errors.ts';
import { jobError } from '../polling/wait-errors.ts';
import type { Activation } from '../schemas/activation.ts';
import { progressOf, statusText } from '../spec/job-status.ts';
import { openDownload } from '../storage/download.ts';
import { checkTransferOptions, type StorageContext, type TransferOptions } from '../storage/transfer.ts';
import { fromCallSite } from '../util/call-site.ts';
import { isObject, jsonTypeOf } from '../util/json.ts';
import type { Redactor } from '../util/redact.ts';

/** A file of a completed activation. */
export interface ActivationResult {
  /** Name of the datastream. */
  readonly name: string;
  /** Where it can be read; may hold a signature, so treat it as a secret. */
  readonly uri: string;
}

/** How far a download is. Bytes. */
export interface DownloadProgress {
  /** Name of the datastream. */
  readonly name: string;
  readonly loaded: number;
  /** `undefined` while storage has not told the length; equals `loaded` at the end. */
  readonly total: number | undefined;
}

/** Options of a download. */
export interface DownloadOptions extends TransferOptions {
  /** Called as a download moves. One that throws is logged and harms no download. */
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** A result that can be downloaded. */
export interface Download {
  /** Name of the datastream. */
  readonly name: string;
  /** A name for the file that every file system takes; different for each result of an activation. */
  readonly fileName: string;
  /**
   * Starts the download; the stream's consumer sets the pace. Cancel the stream, or abort the
   * signal, to stop. Errors are typed, also those of the stream.
   */
  open(signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

/**
 * The results of an activation at 104.
 *
 * @throws {ResultsNotReadyError} while it runs; {@link JobError} where it has ended otherwise; {@link ResponseError}
 * where the name or the URI of a result is missing.
 */
export function resultsOf(activation: Activation, redactor: Redactor): ActivationResult[] {
  const progress = progressOf('activation', activation);
  const { id, status, datastreams } = activation;
  if (progress === 'running') {
    const message = `Activation ${id} is at ${redactor.text(statusText(status), 200)}: its results are readable at 104. Wait for it with \`activations.wait(${id})\`.`;
    throw new ResultsNotReadyError(message, { kind: 'activation', id, resource: redactor.resource(activation) });
  }
  if (progress !== 'completed') throw jobError('activation', activation, progress, redactor);
  if (!Array.isArray(datastreams)) throw unreadable(id, 'datastreams', datastreams, 'an array');
  return datastreams.map((stream: unknown, at) => resultOf(id, `datastreams.${at}`, stream));
}

/** Name and URI of a result: without them it cannot be used, however lenient the client is. */
function resultOf(id: number, field: string, stream: unknown): ActivationResult {
  if (!isObject(stream)) throw unreadable(id, field, stream, 'an object');
  const { name, results } = stream;
  if (typeof name !== 'string') throw unreadable(id, `${field}.name`, name, 'a string');
  if (!isObject(results)) throw unreadable(id, `${field}.results`, results, 'an object');
  if (typeof results.uri !== 'string') throw unreadable(id, `${field}.results.uri`, results.uri, 'a string');
  return { name, uri: results.uri };
}

function unreadable(id: number, field: string, value: unknown, expected: string): ResponseError {
  const message = `The results of activation ${id}, which is completed, cannot be read: \`${field}\` is ${jsonTypeOf(value)}, expected ${expected}. \`activations.get(${id})\` returns what the service sends.`;
  return new ResponseError(message, { status: 200, operation: 'activations.results', attempts: 0, body: '' });
}

/** The results, ready to be downloaded. */
export function downloadsOf(
  results: readonly ActivationResult[],
  context: StorageContext,
  { onProgress, ...options }: DownloadOptions,
): Download[] {
  checkTransferOptions(options);
  const taken = new Map<string, number>();
  return results.map(({ name, uri }) => ({
    name,
    fileName: freeName(fileNameOf(name, uri), taken),
    open: (signal = options.signal) =>
      fromCallSite(async () => {
        const plan = { context, url: httpUrl(name, uri), options: { ...options, signal } };
        return openDownload({ ...plan, onProgress: (loaded, total) => onProgress?.({ name, loaded, total }) });
      }, signal),
  }));
}

/** The longest part of a name that an error shows, in characters. */
const SHOWN_NAME = 200;

function httpUrl(name: string, uri: string): URL {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  const found = url ? `a ${url.protocol} link` : 'no link';
  const message = `The URI of result "${name.slice(0, SHOWN_NAME)}" is ${found}, not http(s), so it cannot be downloaded here; \`activations.results\` shows it.`;
  throw new ResponseError(message, { status: 200, operation: 'activations.download', attempts: 0, body: '' });
}

/** Bytes of a name in UTF-8: file systems take 255, a number and a suffix come on top. */
const LONGEST_NAME = 200;

/** Names that Windows keeps for devices. */
const DEVICES = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** The datastream's name, with the URI's extension, free of whatever could lead elsewhere. */
function fileNameOf(name: string, uri: string): string {
  const path = URL.canParse(uri) ? new URL(uri).pathname : '';
  const [extension = ''] = /(?:\.[A-Za-z0-9]{1,8}){1,2}$/.exec(path) ?? [];
  const safe = cut(name.normalize().replace(/[^\p{L}\p{N}._ -]+/gu, '_'), LONGEST_NAME);
  const stem = safe.replace(/^[. ]+|[. ]+$/g, '') || 'results';
  const whole = stem.toLowerCase().endsWith(extension.toLowerCase()) ? stem : stem + extension;
  return DEVICES.test(whole) ? `_${whole}` : whole;
}

/** As many whole characters as fit into so many bytes. */
function cut(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/**
 * Returns a name that is not taken, with a number where needed. `taken` holds the next number of each name, in lower
 * case: file systems may not tell upper from lower case.
 */
function freeName(name: string, taken: Map<string, number>): string {
  let free = name;
  let n = taken.get(name.toLowerCase()) ?? 2;
  for (; taken.has(free.toLowerCase()); n++) free = name.replace(/(\.[^.]*)?$/, `-${n}$1`);
  taken.set(free.toLowerCase(), 2);
  taken.set(name.toLowerCase(), n);
  return free;
}

import { basename } from 'node:path';
import { downloadTo, openFile } from '../../node/index.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode, usageError } from '../exit-codes.ts';
import { createTransferProgress } from '../transfer-progress.ts';
import { waitForCreated } from './resource-commands.ts';

interface ImportFlags {
  readonly name?: string;
  readonly projectId?: number;
  readonly wait?: boolean;
  readonly timeout?: number;
  readonly idempotencyKey?: string;
}

/** `cohorts import`: uploads a file, creates a cohort from it, and prints the cohort. */
export async function importCohort(
  context: Context,
  flags: ImportFlags,
  [path = '']: readonly string[],
): Promise<ExitCode> {
  const { output, signal } = context;
  const { name = basename(path), projectId, idempotencyKey, timeout } = flags;
  if (timeout !== undefined && !flags.wait) throw usageError('--timeout requires --wait.');
  const data = await openFile(path);
  const client = await context.connect();
  const progress = await createTransferProgress(output);
  const onProgress = ({ loaded, total }: { loaded: number; total: number }): void => {
    progress.update(basename(path), loaded, total);
  };
  const upload = await client.uploads.upload({ kind: 'cohort', data, signal, onProgress }).finally(progress.close);
  const body = {
    name,
    upload_reference: upload.reference,
    ...(projectId !== undefined && { project_id: projectId }),
  };
  const cohort = await client.cohorts.create(body, { idempotencyKey, signal });
  if (!flags.wait) {
    await output.object(cohort);
    return EXIT.done;
  }
  output.note(`Created cohort ${cohort.id}.`);
  return waitForCreated(context, client, 'cohort', cohort, timeout);
}

/** `activations download`: saves the results of an activation to a folder, and prints the paths. */
export async function download(
  context: Context,
  _: object,
  [id = '', folder = '.']: readonly string[],
): Promise<ExitCode> {
  const { output, signal } = context;
  if (!/^\d+$/.test(id)) throw usageError(`An id must be a number, not "${id}".`);
  const client = await context.connect();
  const progress = await createTransferProgress(output);
  const files = await downloadTo(client, Number(id), folder, {
    signal,
    onProgress: ({ name, loaded, total }) => progress.update(name, loaded, total),
  }).finally(progress.close);
  await output.list(files, ['path', 'size']);
  if (files.length === 0) output.note(`Activation ${id} has no results.`);
  return EXIT.done;
}

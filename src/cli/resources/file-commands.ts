import {
  type AudienceClient,
  type Cohort,
  ConflictError,
  DownloadError,
  type DownloadedFile,
  type UploadProgress,
} from '../../index.ts';
import { downloadTo } from '../../node/index.ts';
import { parseId } from '../input/ids.ts';
import { isStdin } from '../input/pipes.ts';
import { NAME } from '../terminal/command-name.ts';
import { type Context, commandLine } from '../terminal/context.ts';
import { HIDDEN } from '../terminal/dry-run.ts';
import { CommandError, EXIT, type ExitCode, isDryRun, usageError, withResume } from '../terminal/exit-codes.ts';
import { type ImportFile, withImportFile } from './import-file.ts';
import { afterCreate, waitForCreated } from './resource-commands.ts';
import { createTransferProgress } from './transfer-progress.ts';

interface ImportFlags {
  readonly name?: string;
  readonly projectId?: number;
  readonly idempotencyKey?: string;
  readonly wait?: boolean;
  readonly timeout?: number;
}

/** `cohorts import`: uploads a file, creates a cohort from it, and prints the cohort. */
export async function importCohort(
  context: Context,
  flags: ImportFlags,
  [path = '']: readonly string[],
): Promise<ExitCode> {
  if (flags.timeout !== undefined && !flags.wait) throw usageError('--timeout requires --wait.');
  if (flags.name === undefined && isStdin(path))
    throw usageError('Standard input has no file name: name the cohort with --name.');
  await context.output.checkFields(undefined, { operation: 'cohorts.create' });
  const client = await context.connect();
  const cohort = await withImportFile(path, context, (file) => createFrom(file, client, context, flags));
  if (flags.wait) return waitForCreated(context, client, { kind: 'cohort', id: cohort.id }, flags.timeout);
  await context.output.object(cohort, { operation: 'cohorts.create', isDone: true });
  return EXIT.done;
}

async function createFrom(
  file: ImportFile,
  client: AudienceClient,
  { output, flags, signal }: Context,
  { name = file.name, projectId, idempotencyKey }: ImportFlags,
): Promise<Cohort> {
  const progress = await createTransferProgress(output);
  const onProgress = ({ loaded, total }: UploadProgress): void => progress.update(file.name, loaded, total);
  const { reference } = await client.uploads
    .upload({ kind: 'cohort', data: file.data }, { signal, onProgress })
    .finally(progress.close)
    .catch((error: unknown) => {
      if (isDryRun(error)) return { reference: HIDDEN };
      throw error;
    });
  const fields = { name, ...(projectId !== undefined && { project_id: projectId }) };
  // The service never replays the response of an earlier import, because each upload has a different reference.
  const options = { signal, ...(idempotencyKey !== undefined && { idempotencyKey, onConflict: 'throw' as const }) };
  const creating = client.cohorts.create({ ...fields, upload_reference: reference }, options);
  return creating.catch((error: unknown) => {
    if (idempotencyKey !== undefined && ConflictError.isInstance(error)) throw importedBefore(error, idempotencyKey);
    // For 15 minutes, a create request can claim the file without another upload.
    const key = creating.idempotencyKey ?? '';
    const project = projectId === undefined ? [] : ['--project-id', String(projectId)];
    const claim = ['--name', name, ...project, '--upload-reference', reference, '--idempotency-key', key];
    throw withResume(afterCreate(error, creating, signal), commandLine(flags, ['cohorts', 'create', ...claim]));
  });
}

/** Returns the error of an import whose key an earlier import used. */
function importedBefore(cause: ConflictError, idempotencyKey: string): CommandError {
  const message = `An earlier import with the key "${idempotencyKey}" has probably created the cohort: look for it with \`${NAME} cohorts list\` before you use another key.`;
  const isUnknown = cause.outcome === 'unknown';
  return new CommandError(message, {
    code: 'imported-before',
    idempotencyKey,
    cause,
    ...(isUnknown && { outcome: 'unknown', exitCode: EXIT.outcomeUnknown }),
  });
}

/** `activations download`: saves the results of an activation to a folder, and prints the paths. */
export async function download(
  context: Context,
  _: object,
  [id = '', folder = '.']: readonly string[],
): Promise<ExitCode> {
  const { output, signal } = context;
  const activation = parseId(id, 'activation');
  const client = await context.connect();
  const progress = await createTransferProgress(output);
  const list = (files: readonly DownloadedFile[]) => output.list(files, ['path', 'size'], { isDone: true });
  const files = await downloadTo(client, activation, folder, {
    signal,
    onProgress: ({ name, loaded, total }) => progress.update(name, loaded, total),
  })
    .finally(progress.close)
    .catch(async (error: unknown) => {
      if (DownloadError.isInstance(error)) await list(error.saved);
      throw error;
    });
  await list(files);
  if (files.length === 0) output.note(`Activation ${id} has no results.`);
  return EXIT.done;
}

import { randomUUID } from 'node:crypto';
import { realpath, rename, rm, writeFile } from 'node:fs/promises';
import type { ServiceContract } from '../../spec/contract.ts';
import { readContract } from '../input/contract-file.ts';
import { readIfExists } from '../local-sandbox/private-file.ts';
import type { Account, Context } from '../terminal/context.ts';
import { messageOf } from '../terminal/error-texts.ts';
import { CommandError, EXIT, type ExitCode, usageError } from '../terminal/exit-codes.ts';
import { askConfirmation } from '../terminal/prompts.ts';
import { type CheckReport, checkService } from './check.ts';
import { linesOf, overridesOf, overridesPath, verdictOf } from './report.ts';
import { compare, mergeFindings } from './settings.ts';

interface CheckFlags {
  readonly write?: boolean;
  readonly out?: string;
  readonly against?: string;
  readonly yes?: boolean;
  readonly all?: boolean;
}

/** `check`: finds out which assumptions about the service hold, and merges the differences into a file. */
export async function check(context: Context, flags: CheckFlags): Promise<ExitCode> {
  const { output } = context;
  const { out, against } = flags;
  const contractAt = (path: string) => readContract({ ...context, flags: { ...context.flags, contract: path } });
  const earlier = against === undefined ? undefined : await contractAt(against);
  if (earlier && !earlier.checked)
    throw usageError(`${against} was not written by \`check --out\`: it does not say what was checked.`);
  const account = await context.account();
  if (flags.write && !flags.yes) await confirmWrites(context);
  const text = out === undefined ? undefined : await writable(out, () => readIfExists(out));
  const existing = text?.trim() && out ? await contractAt(out) : undefined;
  const expected = earlier ?? existing ?? account.contract;
  const run = (): Promise<CheckReport> => runCheck(context, flags, account, expected);
  const { report, notes } =
    out === undefined ? { report: await run(), notes: [] } : await merge(out, text, existing ?? expected ?? {}, run);
  const { stopped, findings, contract } = report;
  const comparison = earlier && compare(findings, contract, earlier);
  const { changes = [], unchecked = [] } = comparison ?? {};
  if (output.isJson) await output.json({ verdict: verdictOf(report, out), ...report, ...comparison, notes });
  else for (const line of linesOf(report, out, flags.all)) await output.line(line);
  for (const note of output.isJson ? [] : notes) output.note(note);
  if (stopped && out !== undefined) output.log('warning', `${out} was not written: the check ended early.`);
  if (stopped) return stopped.exitCode;
  for (const { id, was, is } of changes) output.log('warning', `The service has changed. ${id}: ${was} → ${is}`);
  for (const id of unchecked) output.log('warning', `An earlier check confirmed ${id}. This check could not check it.`);
  // Report a difference unless the file already adapts the client to it. Always report a call that cannot work.
  const isNews = findings.some(({ state, breaks }) => state === 'differs' && (!earlier || breaks));
  if (changes.length > 0 || isNews) return EXIT.differs;
  if (unchecked.length > 0) return EXIT.cutShort;
  if (earlier) output.note('The service has not changed since the check that wrote the file.');
  return EXIT.done;
}

async function runCheck(context: Context, flags: CheckFlags, account: Account, expected?: ServiceContract) {
  const { output, signal } = context;
  const { requestTimeout, verbose = false } = context.flags;
  const { baseUrl, token, fetch, allowInsecure = context.flags.allowInsecure } = account;
  return checkService({
    baseUrl,
    fetch,
    allowInsecure,
    requestTimeout,
    expected,
    signal,
    token: typeof token === 'string' ? token : await (typeof token === 'function' ? token() : token.get({ signal })),
    level: flags.write ? 'write' : 'read',
    onProgress(kind, text) {
      if (kind === 'left')
        output.log('warning', `The project \`${text}\` may be left. The next --write offers to delete it.`);
      else if (kind === 'pause') output.log('info', text);
      else if (verbose) output.log('debug', text);
      else if (kind === 'step' && output.stderr.isTTY) output.note(text);
    },
    confirmDelete: async (names) =>
      flags.yes || askConfirmation(context, `Delete the projects that earlier checks left: ${names.join(', ')}?`),
  });
}

/** Asks before a check that writes. */
async function confirmWrites(context: Context): Promise<void> {
  const effects = 'creates and deletes one project, and reserves an upload that nothing uses';
  if (!context.stdin().isTTY || !context.output.stderr.isTTY) throw usageError(`Pass --yes: the check ${effects}.`);
  if (!(await askConfirmation(context, `The check ${effects}. Continue?`)))
    throw new CommandError('Cancelled: nothing was sent.', { code: 'interrupted' });
}

/** Reads and writes the file of `--out`, or a file beside it. */
async function writable<T>(path: string, access: () => Promise<T>): Promise<T> {
  try {
    return await access();
  } catch (cause) {
    throw new CommandError(`${path} cannot be written: ${messageOf(cause)}`, { code: 'output-unwritable', cause });
  }
}

/**
 * Runs a check, and merges its report into the file of `--out`, unless it ended early. Returns the changes to the
 * settings of the file, and the code that an existing overrides file may lack.
 *
 * @param text Content of the file.
 * @throws {CommandError} before the first request if the file cannot be written.
 */
async function merge(path: string, text: string | undefined, base: ServiceContract, run: () => Promise<CheckReport>) {
  const target = await realpath(path).catch(() => path);
  const part = `${target}.${randomUUID()}.part`;
  const overrides = overridesPath(path);
  try {
    await writable(path, () => writeFile(part, ''));
    const report = await run();
    const { findings, level, contract } = report;
    if (report.stopped) return { report, notes: [] };
    const { contract: merged, notes } = mergeFindings(base, findings, level, contract.checked?.at ?? '');
    const code = overridesOf(findings);
    const known = await writable(overrides, () => readIfExists(overrides));
    if (code !== undefined && known === undefined)
      await writable(overrides, () => writeFile(overrides, code, { flag: 'wx' }));
    const indent = /^\{\r?\n([ \t]+)"/.exec(text ?? '')?.[1] ?? 2;
    await writable(path, () => writeFile(part, `${JSON.stringify(merged, undefined, indent)}\n`));
    await writable(path, () => rename(part, target));
    const isKept = code !== undefined && known !== undefined && known !== code;
    return { report, notes: isKept ? [...notes, `${overrides} was kept. The service needs:\n${code}`] : notes };
  } finally {
    await rm(part, { force: true });
  }
}

import { access, constants, realpath, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ServiceContract } from '../../spec/contract.ts';
import { optionsOf } from '../account/connection.ts';
import { readContract } from '../input/contract-file.ts';
import { readIfExists, replaceFile, writable } from '../input/local-file.ts';
import type { Account, Context } from '../terminal/context.ts';
import { CommandError, EXIT, type ExitCode, usageError } from '../terminal/exit-codes.ts';
import { askConfirmation } from '../terminal/prompts.ts';
import { type CheckReport, checkService } from './check.ts';
import { linesOf, overridesOf, overridesPath, verdictOf } from './report.ts';
import { compare } from './settings.ts';

interface CheckFlags {
  readonly write?: boolean;
  readonly out?: string;
  readonly against?: string;
  readonly yes?: boolean;
  readonly all?: boolean;
}

/** `check`: checks the assumptions about the service. With `--out`, merges the differences into a contract file. */
export async function check(context: Context, flags: CheckFlags): Promise<ExitCode> {
  const { output } = context;
  const { out, against } = flags;
  const contractAt = (path: string) => readContract({ ...context, flags: { ...context.flags, contract: path } });
  if (out !== undefined && against !== undefined && resolve(out) !== resolve(against))
    throw usageError('--out and --against must name the same file.');
  const earlier = against === undefined ? undefined : await contractAt(against);
  if (earlier && !earlier.checked)
    throw usageError(
      `${against} does not say what an earlier check found: pass a file that \`check --out\` has written.`,
    );
  const account = await context.account();
  if (flags.write && !flags.yes) await confirmWrites(context);
  const text = out === undefined ? '' : await writable(out, () => readTarget(out));
  const existing = text.trim() && out ? await contractAt(out) : undefined;
  const expected = earlier ?? existing ?? account.contract;
  const report = await runCheck(context, flags, account, expected);
  const { stopped, findings, contract } = report;
  const notes = out === undefined || stopped ? [] : await writeSettings(out, text, report);
  const comparison = earlier && compare(findings, contract, earlier);
  const { changes = [], unchecked = [] } = comparison ?? {};
  if (output.isJson) await output.json({ verdict: verdictOf(report, out), ...report, ...comparison, notes });
  else for (const line of linesOf(report, out, flags.all)) await output.line(line);
  for (const note of output.isJson ? [] : notes) output.note(note);
  if (stopped && out !== undefined) output.log('warning', `The check ended early, so ${out} was not written.`);
  if (stopped) return stopped.exitCode;
  for (const { id, was, is } of changes) output.log('warning', `The service has changed. ${id}: ${was} → ${is}`);
  for (const id of unchecked)
    output.log(
      'warning',
      `This check could not verify ${id}, which an earlier check confirmed. To see the reason, pass --all.`,
    );
  // Exit with `differs` unless the file already adapts the client. Always do so if a call cannot work.
  const isNews = findings.some(({ state, breaks }) => state === 'differs' && (!earlier || breaks));
  if (changes.length > 0 || isNews) return EXIT.differs;
  if (unchecked.length > 0) return EXIT.cutShort;
  if (earlier) output.note(`The check found no change since the check that wrote ${against}.`);
  return EXIT.done;
}

async function runCheck(
  context: Context,
  flags: CheckFlags,
  account: Account,
  expected?: ServiceContract,
): Promise<CheckReport> {
  const { output, signal } = context;
  const { baseUrl, token, fetch, allowInsecure = context.flags.allowInsecure } = account;
  return checkService({
    ...optionsOf(context.flags, output),
    baseUrl,
    token,
    fetch,
    allowInsecure,
    expected,
    signal,
    level: flags.write ? 'write' : 'read',
    onProgress(kind, text) {
      if (kind === 'left')
        output.log(
          'warning',
          `The project \`${text}\` may still exist. After an hour, a check with --write offers to delete the project.`,
        );
      else if (output.stderr.isTTY) output.note(text);
    },
    confirmDelete: async (names) =>
      flags.yes || askConfirmation(context, `Delete the projects that earlier checks left: ${names.join(', ')}?`),
  });
}

/** Asks for confirmation before a check that writes. */
async function confirmWrites(context: Context): Promise<void> {
  const effects = 'creates and deletes one project, and reserves one upload without using it';
  if (!context.stdin().isTTY || !context.output.stderr.isTTY)
    throw usageError(`To confirm, pass --yes: the check ${effects}.`);
  if (!(await askConfirmation(context, `The check ${effects}. Continue?`)))
    throw new CommandError('Cancelled: nothing was sent.', { code: 'interrupted' });
}

/** Returns the content of the `--out` file. Throws if its folder is not writable. */
async function readTarget(path: string): Promise<string> {
  await access(dirname(path), constants.W_OK);
  return (await readIfExists(path)) ?? '';
}

/**
 * Writes the contract of a report to the `--out` file, and the overrides to a new file beside it. Returns notes about
 * the settings, and the code that an existing overrides file lacks.
 *
 * @param text Content of the `--out` file before the check.
 */
async function writeSettings(path: string, text: string, { findings, contract, notes }: CheckReport) {
  const indent = /^\{\r?\n([ \t]+)"/.exec(text)?.[1] ?? 2;
  const target = await realpath(path).catch(() => path);
  if (((await writable(path, () => readIfExists(path))) ?? '') !== text)
    return [`${path} was not written, because its content changed during the check. Run the check again.`];
  await writable(path, () => replaceFile(target, `${JSON.stringify(contract, undefined, indent)}\n`, 0o666));
  const code = overridesOf(findings);
  const overrides = overridesPath(path);
  const known = await writable(overrides, () => readIfExists(overrides));
  if (code === undefined || code === known) return notes;
  if (known !== undefined) return [...notes, `${overrides} was not changed. Your service needs this code:\n${code}`];
  await writable(overrides, () => writeFile(overrides, code));
  return notes;
}

import { randomUUID } from 'node:crypto';
import { readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { ServiceContract } from '../../spec/contract.ts';
import { readContract } from '../input/contract-file.ts';
import type { Account, Context } from '../terminal/context.ts';
import { messageOf } from '../terminal/error-texts.ts';
import { CommandError, EXIT, type ExitCode, usageError } from '../terminal/exit-codes.ts';
import type { Output } from '../terminal/output.ts';
import { askConfirmation } from '../terminal/prompts.ts';
import { widthOf } from '../terminal/terminal.ts';
import type { CheckEvent, CheckReport, Finding } from './index.ts';
import {
  checkService,
  compare,
  linesOf,
  mergeFindings,
  overridesOf,
  overridesPath,
  rowsOf,
  verdictOf,
} from './index.ts';

interface CheckFlags {
  readonly write?: boolean;
  readonly out?: string;
  readonly against?: string;
  readonly yes?: boolean;
  readonly all?: boolean;
}

/** Effects of `--write` on the account. */
const EFFECTS = 'creates and deletes one project, and reserves an upload that nothing uses';

/** `check`: finds out which assumptions about the service hold, and merges the differences into a file. */
export async function check(context: Context, flags: CheckFlags): Promise<ExitCode> {
  const { output } = context;
  const earlier = flags.against === undefined ? undefined : await readEarlier(context, flags.against);
  const account = await context.account();
  if (flags.write && !flags.yes) await confirmWrites(context);
  const out = flags.out === undefined ? undefined : await openSettings(context, flags.out);
  const expected = earlier ?? out?.existing ?? account.contract;
  let report: CheckReport | undefined;
  let notes: readonly string[] = [];
  try {
    report = await runCheck(context, flags, account, expected);
  } finally {
    // Before anything is printed, because the reader of the output may be gone.
    notes = (await out?.write(report?.stopped ? undefined : report, expected ?? {})) ?? [];
  }
  const comparison = earlier && compare(report, earlier);
  const { stopped } = report;
  const verdict = verdictOf(report, flags.out);
  if (output.isJson) await output.json({ verdict, ...report, findings: rowsOf(report), ...comparison, notes });
  else await printReport(output, report, flags);
  for (const note of output.isJson ? [] : notes) output.note(note);
  if (stopped && flags.out !== undefined) output.log('warning', `${flags.out} was not written: the check ended early.`);
  if (stopped) return Object.values(EXIT).find((code) => code === stopped.exitCode) ?? EXIT.unexpected;
  const { changes, unchecked } = comparison ?? { changes: [], unchecked: [] };
  for (const { id, was, is } of changes) output.log('warning', `The service has changed. ${id}: ${was} → ${is}`);
  for (const id of unchecked) output.log('warning', `${id} was confirmed earlier, and could not be checked.`);
  // What the file adapts is no news; what the client cannot do always is.
  const isNews = ({ state, breaks }: Finding): boolean => state === 'differs' && (!comparison || breaks === true);
  if (changes.length > 0 || report.findings.some(isNews)) return EXIT.differs;
  if (unchecked.length > 0) return EXIT.cutShort;
  if (comparison) output.note('The service has not changed since the check that wrote the file.');
  return EXIT.done;
}

async function runCheck(
  context: Context,
  flags: CheckFlags,
  { baseUrl, token, fetch, allowInsecure = context.flags.allowInsecure }: Account,
  expected: ServiceContract | undefined,
): Promise<CheckReport> {
  const { output, signal } = context;
  return checkService({
    baseUrl,
    token: typeof token === 'string' ? token : await (typeof token === 'function' ? token() : token.get({ signal })),
    level: flags.write ? 'write' : 'read',
    fetch,
    allowInsecure,
    requestTimeout: context.flags.requestTimeout,
    expected,
    signal,
    onProgress: progressOf(output, context.flags.verbose === true),
    async confirmDelete(names) {
      return (
        flags.yes || askConfirmation(context, `Delete the projects that earlier checks left: ${names.join(', ')}?`)
      );
    },
  });
}

/** Asks before a check that writes. */
async function confirmWrites(context: Context): Promise<void> {
  if (!context.stdin().isTTY || !context.output.stderr.isTTY) throw usageError(`Pass --yes: the check ${EFFECTS}.`);
  if (!(await askConfirmation(context, `The check ${EFFECTS}. Continue?`)))
    throw new CommandError('Cancelled: nothing was sent.', { code: 'interrupted' });
}

/** Returns what shows the progress: steps in a terminal, each request with --verbose. */
function progressOf(output: Output, isVerbose: boolean): (event: CheckEvent) => void {
  const isShown = output.stderr.isTTY === true;
  return (event) => {
    if (event.type === 'step' && (isShown || isVerbose)) output.note(event.text);
    else if (event.type === 'left')
      output.log('warning', `The project \`${event.name}\` may be left. The next --write offers to delete it.`);
    else if (event.type === 'pause')
      output.log('info', `The service limits the rate: continuing in ${Math.ceil(event.ms / 1_000)} s.`);
    else if (event.type === 'request' && isVerbose)
      output.log('debug', `  ${event.method} ${event.path}: ${event.why}`);
  };
}

/** Width of a report that is printed elsewhere than in a terminal. */
const REPORT_WIDTH = 80;

async function printReport(output: Output, report: CheckReport, { all, out }: CheckFlags): Promise<void> {
  const { stdout } = output;
  const width = Math.max(40, stdout.isTTY ? widthOf(stdout) : REPORT_WIDTH);
  const style = { width, isAll: all, file: out, emphasize: (text: string) => output.paint('bold', text, stdout) };
  for (const line of linesOf(report, style)) await output.line(line);
}

/** Reads the file that an earlier check has written. */
async function readEarlier({ flags, env }: Context, path: string): Promise<ServiceContract> {
  const contract = await readContract({ ...flags, contract: path }, env);
  if (contract?.checked) return contract;
  throw usageError(`${path} was not written by \`check --out\`: it does not say what was checked.`);
}

/** The file of `--out`. */
interface SettingsFile {
  /** The contract that it has. */
  readonly existing: ServiceContract | undefined;
  /** Merges a report into the file. Returns what became of its settings; without a report, it stays as it was. */
  write(report: CheckReport | undefined, inEffect: ServiceContract): Promise<readonly string[]>;
}

/**
 * Opens the file of `--out` before the first request, so that no report is lost.
 *
 * @throws {CommandError} if it cannot be written, or has something else than a contract.
 */
async function openSettings({ flags, env }: Context, path: string): Promise<SettingsFile> {
  const part = `${path}.${randomUUID()}.part`;
  const safely = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (cause) {
      await rm(part, { force: true });
      throw new CommandError(`${path} cannot be written: ${messageOf(cause)}`, { code: 'output-unwritable', cause });
    }
  };
  const target = await stat(path).catch(() => undefined);
  await safely(async () => {
    if (target?.isDirectory()) throw new Error('it is a folder');
    await writeFile(part, '');
  });
  const text = target && (await readFile(path, 'utf8'));
  const read = (): Promise<ServiceContract | undefined> => readContract({ ...flags, contract: path }, env);
  const existing = text?.trim() ? await read() : undefined;
  return {
    existing,
    write: (report, inEffect) =>
      safely(async () => {
        if (!report) {
          await rm(part, { force: true });
          return [];
        }
        const { findings, level, contract } = report;
        const { contract: merged, notes } = mergeFindings(
          existing ?? inEffect,
          findings,
          level,
          contract.checked?.at ?? '',
        );
        const code = overridesOf(report);
        const lines = code === undefined ? [] : await writeOnce(overridesPath(path), code);
        const indent = /^\{\r?\n([ \t]+)"/.exec(text ?? '')?.[1] ?? 2;
        await writeFile(part, `${JSON.stringify(merged, undefined, indent)}\n`);
        await rename(part, await realpath(path).catch(() => path));
        return [...notes, ...lines];
      }),
  };
}

/** Writes code to a new file. Returns it with a hint if there is one already: it may be completed. */
async function writeOnce(path: string, code: string): Promise<readonly string[]> {
  try {
    await writeFile(path, code, { flag: 'wx' });
    return [];
  } catch (error) {
    if (Object(error).code !== 'EEXIST') throw error;
    return (await readFile(path, 'utf8')) === code ? [] : [`${path} was kept. What the check found needs:\n${code}`];
  }
}

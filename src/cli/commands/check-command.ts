import { randomUUID } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import type { CheckEvent, CheckLevel, CheckReport } from '../../check/index.ts';
import {
  checkService,
  compare,
  fileJournal,
  linesOf,
  memoryJournal,
  REQUEST_LIMITS,
  rowsOf,
} from '../../check/index.ts';
import type { ServiceContract } from '../../spec/contract.ts';
import { isSameAddress } from '../account-checks.ts';
import { journalPath, reserveJournal } from '../check-journal.ts';
import { plannedRequests } from '../check-plan.ts';
import { NAME } from '../command-name.ts';
import type { Account, Context, GlobalFlags } from '../context.ts';
import { readContract } from '../contract-file.ts';
import { messageOf } from '../error-texts.ts';
import { CommandError, EXIT, type ExitCode, usageError } from '../exit-codes.ts';
import type { Output } from '../output.ts';
import { askConfirmation } from '../prompts.ts';
import { jsonText, paint } from '../terminal.ts';

interface CheckFlags {
  readonly write?: boolean;
  readonly build?: boolean;
  readonly plan?: boolean;
  readonly out?: string;
  readonly against?: string;
  readonly yes?: boolean;
  readonly maxMisses?: number;
}

const WRITES =
  'creates and deletes one project, reserves an upload of 4 bytes that nothing uses, and sends creates that break rules, which a service refuses';

/** Effects of each level on the account. */
const EFFECTS: Readonly<Record<CheckLevel, string>> = {
  read: '',
  write: WRITES,
  build: `${WRITES}; and builds one audience, which is deleted after its build`,
};

/** `check`: finds out which assumptions about the service hold, and writes the differences to a file. */
export async function check(context: Context, flags: CheckFlags): Promise<ExitCode> {
  const { output } = context;
  const level = flags.build ? 'build' : flags.write ? 'write' : 'read';
  const earlier = flags.against === undefined ? undefined : await readEarlier(context.flags, flags.against);
  if (flags.plan) return printPlan(output, level, process.env.AUDIENCE_MCP_TOKEN !== undefined);
  if (level !== 'read' && !flags.yes) await confirmWrites(context, level);
  const report = await runCheck(context, flags, level, earlier);
  const comparison = earlier && compare(report, earlier);
  // Before anything is printed, because the reader of the output may be gone.
  if (flags.out !== undefined && !report.stopped) await writeContract(flags.out, report.contract);
  if (output.isJson) await output.json({ ...report, findings: rowsOf(report), ...comparison });
  else await printReport(output, report);
  if (flags.out !== undefined && report.stopped)
    output.log('warning', `${flags.out} was not written: the check ended early.`);
  else if (flags.out !== undefined)
    output.note(`The settings are in ${flags.out}: pass it to commands by --contract, to a client as \`contract\`.`);
  if (report.left !== undefined) output.log('warning', report.left);
  if (report.stopped) {
    output.log('warning', report.stopped.reason);
    return knownExitCode(report.stopped.exitCode);
  }
  if (!comparison) return report.findings.some(({ state }) => state === 'differs') ? EXIT.differs : EXIT.done;
  for (const { id, was, is } of comparison.changes)
    output.log('warning', `The service has changed: ${id} was ${was}, and is ${is}.`);
  for (const id of comparison.unchecked)
    output.log('warning', `${id} was confirmed earlier, and could not be checked.`);
  if (comparison.changes.length > 0) return EXIT.differs;
  if (comparison.unchecked.length > 0) return EXIT.cutShort;
  output.note('The service is as the file says.');
  return EXIT.done;
}

/** Checks the service. A check that writes reserves the journal, and says if it was interrupted and something is left. */
async function runCheck(
  context: Context,
  flags: CheckFlags,
  level: CheckLevel,
  earlier: ServiceContract | undefined,
): Promise<CheckReport> {
  const { output, signal } = context;
  const account = await context.account();
  const { baseUrl, fetch, allowInsecure = context.flags.allowInsecure } = account;
  const token = await tokenOf(account, signal);
  // A sandbox in this process ends with it.
  const path = fetch ? undefined : journalPath(baseUrl, token);
  const journal = path === undefined ? memoryJournal() : fileJournal(path);
  const release = path === undefined || level === 'read' ? undefined : await reserveJournal(path);
  try {
    return await checkService({
      baseUrl,
      token,
      mcpToken: mcpTokenFor(context, baseUrl),
      level,
      fetch,
      allowInsecure,
      journal,
      requestTimeout: context.flags.requestTimeout,
      maxMisses: flags.maxMisses,
      expected: earlier ?? account.contract,
      signal,
      onProgress: progressOf(output, context.flags.verbose === true),
    });
  } catch (error) {
    if (signal.aborted && (await journal.load()))
      output.log('warning', `Something named \`audience-check …\` is left: \`${NAME} check --write\` deletes it.`);
    throw error;
  } finally {
    await release?.();
  }
}

const knownExitCode = (code: number): ExitCode =>
  Object.values(EXIT).find((value) => value === code) ?? EXIT.unexpected;

/** Asks before a check that writes. */
async function confirmWrites({ output, signal }: Context, level: CheckLevel): Promise<void> {
  const message = `The check ${EFFECTS[level]}. Continue?`;
  if (!process.stdin.isTTY || !output.stderr.isTTY) throw usageError(`Pass --yes: the check ${EFFECTS[level]}.`);
  if (!(await askConfirmation({ output, signal }, message)))
    throw new CommandError('Cancelled: nothing was sent.', { code: 'interrupted' });
}

async function tokenOf({ token }: Account, signal: AbortSignal): Promise<string> {
  if (typeof token === 'string') return token;
  return typeof token === 'function' ? token() : token.get({ signal });
}

/** Returns the token of the MCP endpoint, if the environment has one for this address. */
function mcpTokenFor({ flags }: Context, baseUrl: string): string | undefined {
  const { AUDIENCE_MCP_TOKEN: token, AUDIENCE_BASE_URL: address } = process.env;
  if (!token || flags.profile !== undefined || flags.sandbox) return undefined;
  return address && !isSameAddress(address, baseUrl) ? undefined : token;
}

/** Returns what shows the progress: steps in a terminal, each request with --verbose. */
function progressOf(output: Output, isVerbose: boolean): (event: CheckEvent) => void {
  const isShown = output.stderr.isTTY === true;
  return (event) => {
    if (event.type === 'step' && (isShown || isVerbose)) output.note(event.text);
    else if (event.type === 'pause')
      output.log('info', `The service limits the rate: continuing in ${Math.ceil(event.ms / 1_000)} s.`);
    else if (event.type === 'request' && isVerbose)
      output.log('debug', `  ${event.method} ${event.path}: ${event.why}`);
  };
}

async function printReport(output: Output, report: CheckReport): Promise<void> {
  if (!output.stdout.isTTY) {
    await output.list(rowsOf(report), ['state', 'id', 'evidence', 'override']);
    return;
  }
  for (const line of linesOf(report, (title) => paint('bold', title, output.stdout))) await output.line(line);
}

/** Prints the requests of a check of a service that follows the assumptions; sends none. */
async function printPlan(output: Output, level: CheckLevel, hasMcpToken: boolean): Promise<ExitCode> {
  const requests = await plannedRequests(level, hasMcpToken);
  await output.list(requests, ['method', 'path', 'why']);
  const { read, write } = REQUEST_LIMITS[level];
  output.note(
    `These requests go to a service that follows the assumptions. Where one differs, other paths are tried: at most ${read} reads and ${write} writes in all. Nothing was sent.`,
  );
  return EXIT.done;
}

/** Reads the file that an earlier check has written. */
async function readEarlier(flags: GlobalFlags, path: string): Promise<ServiceContract> {
  const contract = await readContract({ ...flags, contract: path });
  if (contract?.checked) return contract;
  throw usageError(`${path} was not written by \`check --out\`: it does not say what was checked.`);
}

async function writeContract(path: string, contract: ServiceContract): Promise<void> {
  const part = `${path}.${randomUUID()}.part`;
  try {
    await writeFile(part, `${jsonText(contract, 2)}\n`);
    await rename(part, path);
  } catch (cause) {
    await rm(part, { force: true });
    throw new CommandError(`${path} cannot be written: ${messageOf(cause)}`, { code: 'output-unwritable', cause });
  }
}

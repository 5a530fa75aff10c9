import type { Readable } from 'node:stream';
import type { AudienceClient, ClientOptions } from '../../index.ts';
import { NAME } from './command-name.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Output, OutputProcess, TokenOrigin } from './output.ts';
import { shellWord } from './terminal.ts';

/** Flags that commands share. */
export interface GlobalFlags {
  readonly json?: boolean;
  readonly fields?: readonly string[];
  readonly profile?: string;
  readonly baseUrl?: string;
  readonly tokenCommand?: string;
  /** Path of the contract file. */
  readonly contract?: string;
  readonly maxRetries?: number;
  /** Timeout of one attempt in milliseconds. */
  readonly requestTimeout?: number;
  /** Deadline of the entire command in milliseconds. */
  readonly deadline?: number;
  readonly allowInsecure?: boolean;
  readonly sandbox?: boolean;
  readonly verbose?: boolean;
  readonly quiet?: boolean;
  /** Prints requests instead of sending them. Only commands that can write have this flag. */
  readonly dryRun?: boolean;
}

/** Address and token of the account that a command uses. */
export interface Account extends TokenOrigin, Pick<ClientOptions, 'allowInsecure' | 'contract' | 'fetch'> {
  readonly baseUrl: string;
  readonly token: Exclude<ClientOptions['token'], undefined>;
  readonly profile?: string;
  readonly email?: string | undefined;
  readonly expiresAt?: string | undefined;
  /** True if the sandbox of this account, and its jobs, end with the command. */
  readonly endsWithCommand?: boolean;
}

/** Standard input of a command. */
export type Stdin = Readable & { readonly isTTY?: boolean };

/** The parts of the process that a command uses. */
export interface CommandProcess extends OutputProcess {
  /** Aborted by the first Ctrl-C or SIGTERM, or by a closed output. The reason is a {@link CommandError}. */
  readonly signal: AbortSignal;
  /** Opens and returns standard input. */
  stdin(): Stdin;
  /** Ends the process of a command that does not react to its deadline. */
  exit(code: ExitCode): void;
}

/** Environment of a running command. */
export interface Context extends Pick<CommandProcess, 'env' | 'stdin'> {
  readonly output: Output;
  readonly flags: GlobalFlags;
  /** Aborted with the signal of the process, or at the deadline. The reason is a {@link CommandError}. */
  readonly signal: AbortSignal;
  /** Returns the account that flags, environment and profile select. */
  account(): Promise<Account>;
  /** Returns the client for this account. The program closes it after the command. */
  connect(): Promise<AudienceClient>;
  /** Returns a client for the service's MCP endpoint. The program closes it after the command. */
  connectMcp(): Promise<AudienceClient>;
}

/** Executes a command, and returns its exit code. */
export type Handler<Flags = object> = (context: Context, flags: Flags, args: readonly string[]) => Promise<ExitCode>;

/** Returns a command line to show to the user, with the flags that select the current account. */
export function commandLine(flags: GlobalFlags, args: readonly string[]): string {
  const { profile, baseUrl, tokenCommand, contract, allowInsecure, sandbox } = flags;
  const account = [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
    ...(tokenCommand === undefined ? [] : ['--token-command', tokenCommand]),
    ...(contract === undefined ? [] : ['--contract', contract]),
    ...(allowInsecure ? ['--allow-insecure'] : []),
    ...(sandbox ? ['--sandbox'] : []),
  ];
  return [NAME, ...[...args, ...account].map(shellWord)].join(' ');
}

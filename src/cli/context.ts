import type { AudienceClient } from '../index.ts';
import type { ExitCode } from './exit-codes.ts';
import type { Output } from './output.ts';

/** Flags that every command takes. */
export interface GlobalFlags {
  readonly json?: boolean;
  readonly fields?: readonly string[];
  readonly profile?: string;
  readonly baseUrl?: string;
  readonly tokenCommand?: string;
  readonly maxRetries?: number;
  readonly allowInsecure?: boolean;
  readonly sandbox?: boolean;
  readonly verbose?: boolean;
}

/** Environment of a running command. */
export interface Context {
  readonly output: Output;
  readonly flags: GlobalFlags;
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal;
  /**
   * Returns the client of the account that flags, environment and profile select; with `mcp`, one for the service's MCP
   * endpoint only. It is closed after the command.
   */
  connect(scope?: 'general' | 'mcp'): Promise<AudienceClient>;
}

/** Does the work of a command. Returns its exit code, 0 if it returns nothing. */
export type Handler<Flags = object> = (
  context: Context,
  flags: Flags,
  args: readonly string[],
) => Promise<ExitCode | undefined>;

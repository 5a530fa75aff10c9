import { safely } from './callbacks.ts';
import type { Redactor } from './redact.ts';

/** Log level. Each level includes the levels before it. */
export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug';

/**
 * Receives log lines. You can pass `console`. pino needs an adapter, because it takes the fields before the message.
 */
export interface Logger {
  /** Not used. The type makes the compiler refuse pino, which would drop the fields and whose `silent` has no `raw`. */
  readonly silent?:
    | boolean
    | {
        /** Not used. */
        readonly raw: unknown;
      }
    | undefined;
  /** Logs a failure that no call reports, such as an error that your callback throws. */
  error(message: string, fields?: LogFields): void;
  /** Logs a problem that the client works around, such as a response that differs from the documentation. */
  warn(message: string, fields?: LogFields): void;
  /** Logs a retry with its reason, or what a call waits for. */
  info(message: string, fields?: LogFields): void;
  /** Logs a response, with its status and duration. */
  debug(message: string, fields?: LogFields): void;
}

/** Details of a log line, which never contain a token, a password, a body or a query. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export const LOG_LEVELS: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug'];

export function isLogger(value: unknown): boolean {
  return LOG_LEVELS.every((level) => level === 'off' || typeof Object(value)[level] === 'function');
}

/**
 * Creates a logger that drops lines less severe than `level`, and removes secrets from the other lines. Ignores errors
 * of `sink`.
 */
export function createLogger(sink: Logger, level: LogLevel, redactor: Redactor): Logger {
  const at = (name: Exclude<LogLevel, 'off'>) => {
    if (LOG_LEVELS.indexOf(name) > LOG_LEVELS.indexOf(level)) return (): void => {};
    return (message: string, fields: LogFields = {}): void => {
      const clean = Object.entries(fields).map(([key, value]) => [
        key,
        typeof value === 'string' ? redactor.text(value) : value,
      ]);
      const details = clean.length > 0 ? [Object.fromEntries(clean)] : [];
      void safely(
        () => sink[name](redactor.text(message), ...details),
        () => {},
      );
    };
  };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

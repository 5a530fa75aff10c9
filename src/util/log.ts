import type { Redactor } from './redact.ts';

/** How much is logged: each level includes those before it. */
export type LogLevel = 'off' | 'error' | 'warn' | 'info' | 'debug';

/** Where log lines go; `console` fits. */
export interface Logger {
  error(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
}

/** Details of a log line. Never a token, a password, a body, or a query. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

const LEVELS: readonly LogLevel[] = ['off', 'error', 'warn', 'info', 'debug'];

/** Whether a value is a log level. */
export function isLogLevel(value: unknown): value is LogLevel {
  return LEVELS.some((level) => level === value);
}

/** Whether a value has the methods of a logger. */
export function isLogger(value: unknown): boolean {
  return LEVELS.every((level) => level === 'off' || typeof Object(value)[level] === 'function');
}

/** A logger that drops what is above `level` and removes secrets from the rest; a failing sink harms no call. */
export function createLogger(sink: Logger, level: LogLevel, redactor: Redactor): Logger {
  const at = (name: Exclude<LogLevel, 'off'>) => {
    if (LEVELS.indexOf(name) > LEVELS.indexOf(level)) return (): void => {};
    return (message: string, fields: LogFields = {}): void => {
      const clean = Object.entries(fields).map(([key, value]) => [
        key,
        typeof value === 'string' ? redactor.text(value) : value,
      ]);
      try {
        sink[name](redactor.text(message), ...(clean.length > 0 ? [Object.fromEntries(clean)] : []));
      } catch {
        // A broken logger must not break a call.
      }
    };
  };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

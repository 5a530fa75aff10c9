import type { ErrorCode } from './error-codes.ts';
import type {
  CreateDetails,
  Created,
  CreateOutcome,
  Details,
  ErrorFields,
  SlotState,
  Upload,
  UploadDetails,
} from './error-details.ts';

/** Any error of this package; its `code` determines its fields. */
export type AnyAudienceError = {
  [Code in ErrorCode]: AudienceError & { readonly code: Code } & (Code extends keyof ErrorFields
      ? ErrorFields[Code]
      : unknown);
}[ErrorCode];

const BRAND = Symbol.for('audience-activation.error');

function lineage(errorClass: unknown): readonly string[] {
  const names: string[] = [];
  for (let at = errorClass; typeof at === 'function' && 'className' in at; at = Object.getPrototypeOf(at)) {
    names.push(String(at.className));
  }
  return names;
}

/** Base of every error this package throws. Its own properties are exactly the details of its class. */
export class AudienceError extends Error {
  /** The class's name, safe from minifiers. */
  static readonly className: string = 'AudienceError';
  /** Literal code, one of {@link ERROR_CODES}. */
  declare readonly code: ErrorCode;
  /** On a failed create: the key it was sent under. */
  declare readonly idempotencyKey?: string;
  /** On a failed create: what became of it. */
  declare readonly outcome?: CreateOutcome;
  /** On a `createAndWait` that failed in its wait for another reason than the job, its `timeout` for instance: what was created, and goes on. */
  declare readonly created?: Created;
  /** On a failed upload: what can be done with its slot. */
  declare readonly slot?: SlotState;
  /** On an import that failed after its upload: the file is there and can still be claimed. */
  declare readonly upload?: Upload;

  constructor(message: string, details: Details & { readonly code: ErrorCode }) {
    const { cause, ...own } = details;
    super(message, cause === undefined ? undefined : { cause });
    Object.assign(this, own);
    Object.defineProperty(this, 'name', { value: new.target.className, configurable: true, writable: true });
    Object.defineProperty(this, BRAND, { value: lineage(new.target) });
    // Only now does the stack's first line carry the right name.
    Error.captureStackTrace?.(this, new.target);
  }

  /**
   * Checks for an error of this class or a subclass, including one from another copy of the package. Works without
   * its class, as a callback of `filter` or `find`.
   *
   * @example
   * if (RateLimitError.isInstance(error)) console.log(error.retryAt);
   * const missing = errors.filter(NotFoundError.isInstance);
   */
  static get isInstance(): (value: unknown) => value is AnyAudienceError {
    return (value): value is AnyAudienceError =>
      value instanceof Error && BRAND in value && Array.isArray(value[BRAND]) && value[BRAND].includes(this.className);
  }

  /** Name, message and the class's own properties. */
  toJSON(): Record<string, unknown> {
    return Object.fromEntries([['name', this.name], ['message', this.message], ...Object.entries(this)]);
  }
}

/** Returns a text with a full stop at its end. */
function asSentence(text: string): string {
  const trimmed = text.trimEnd();
  return /[.!?]$/.test(trimmed.slice(-1)) ? trimmed : `${trimmed}.`;
}

/** The same error told with more details: one that several calls share is never changed in place. */
export function withDetails<E extends AudienceError>(
  error: E,
  details: CreateDetails & UploadDetails,
  advice: string,
): E {
  const message = advice === '' ? error.message : `${asSentence(error.message)} ${advice}`;
  // A subclass of the user's may have a constructor of another kind.
  const ErrorClass = Object.hasOwn(error.constructor, 'className') ? error.constructor : AudienceError;
  return Reflect.construct(ErrorClass, [message, { ...error, cause: error.cause, ...details }]);
}

/** A wrong or missing option, found before any request. The message names the option and the fix. */
export class ConfigurationError extends AudienceError {
  static override readonly className: string = 'ConfigurationError';
  declare static readonly isInstance: (value: unknown) => value is ConfigurationError;
  declare readonly code: 'configuration-invalid';
  constructor(message: string, details: Details = {}) {
    super(message, { code: 'configuration-invalid', ...details });
  }
}

/** Refuses what is not right. */
export function check(right: boolean, message: string): void {
  if (!right) throw new ConfigurationError(message);
}

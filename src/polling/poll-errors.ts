import {
  ApiError,
  AuthenticationError,
  NotFoundError,
  RateLimitError,
  ServerError,
  ValidationError,
} from '../errors/api-errors.ts';
import { AudienceError } from '../errors/audience-error.ts';
import { ConnectionError, ResponseError } from '../errors/call-errors.ts';

/** Whether a failed look says nothing about the job: the network, a proxy, a 429, a failing server. */
export function isPassing(error: unknown): boolean {
  if (ConnectionError.isInstance(error)) return true;
  if (ServerError.isInstance(error) || RateLimitError.isInstance(error)) return true;
  if (ApiError.isInstance(error)) return error.status === 408;
  return ResponseError.isInstance(error) && error.code === 'not-an-envelope';
}

/** Whether a request could not be made: the token source or the limiter that the user gave failed. */
export function isUnsendable(error: unknown): boolean {
  // A `data` override throws when the response is there.
  if (ResponseError.isInstance(error)) return false;
  return AudienceError.isInstance(error) && (error.code === 'token-unavailable' || error.code === 'callback-failed');
}

/** Whether the service knows no such page of a list. */
export function isNoPage(error: unknown): boolean {
  return NotFoundError.isInstance(error) || ValidationError.isInstance(error);
}

/** Whether the service refuses a list, or shows no list: single resources may well be readable. */
export function isUnlistable(error: unknown): boolean {
  if (AuthenticationError.isInstance(error) || isPassing(error)) return false;
  return ApiError.isInstance(error) || ResponseError.isInstance(error);
}

/** However long a service asks to be left alone, it is asked again after this. Milliseconds. */
const LONGEST_HOLD = 120_000;

/** How long the service asks to be left alone. Milliseconds. */
export function askedToWait(error: unknown): number {
  const seconds = ApiError.isInstance(error) ? (error.retryAfter ?? 0) : 0;
  return Math.min(LONGEST_HOLD, seconds * 1000);
}

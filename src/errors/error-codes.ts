/** Meaning of each error `code`. */
export const ERROR_CODES = {
  /** `ConfigurationError`: fix the option or argument that the message names. */
  'configuration-invalid': 'An option is missing or invalid; nothing was sent.',
  /** Code of the error with which calls and waits reject after `client.close()`. */
  'client-closed': 'The client was closed before or during the call.',
  /** `AudienceError` of token sources, token stores and OAuth. `cause` is the reason. */
  'token-unavailable': 'The token source failed, so the request could not be authorized.',
  /** `cause` is the error that your function threw. */
  'callback-failed': 'A limiter, an override or a `fetch` function that you passed threw an error.',
  /** `ConnectionError`. `outcome` says whether a create request may have taken effect. */
  'connection-failed': 'No complete response arrived.',
  /** `TimeoutError`, once the retries are used up. */
  'attempt-timeout': 'An attempt took longer than `timeout`, or than a limit of the runtime.',
  /** `TimeoutError` of an upload or a download. */
  'idle-timeout':
    'A transfer to or from storage transferred no byte within `idleTimeout`, or within a limit of the runtime.',
  /** `TimeoutError` of a call with the `deadline` option. */
  'deadline-exceeded': 'The call took longer than `deadline`.',
  /** `TimeoutError` of `signInWithBrowser`. */
  'sign-in-timeout': 'The user did not sign in with the browser within `timeout`.',
  /** `ApiError`. See its `status`. */
  'api-error': 'The service responded with an error status that no other code covers.',
  /** `AuthenticationError`. `reason` is `token` or `credentials`. */
  'authentication-failed': '401: the service refused the token or the credentials.',
  /** `PermissionError`, for example for an API token at the MCP endpoint. */
  'permission-denied': '403: the token is not permitted to do this.',
  /** `NotFoundError`. For a request with an id, check the id and the account. */
  'not-found': '404: the resource does not exist for this account.',
  /** `NotAcceptableError`. A proxy may have removed the header. */
  'not-acceptable': '406: `Accept: application/json` did not reach the service.',
  /** `ValidationError`. Sending the same body again does not help. */
  'validation-failed': '422, or invalid fields found before sending (`local`); `errors` names the fields.',
  /** `ConflictError`. `outcome` says whether to repeat the create request with the same key. */
  conflict: '409: an earlier request with this idempotency key had another body, or is still in flight.',
  /** `RateLimitError`. `bucket` is the exceeded rate bucket. */
  'rate-limited': '429: a rate limit is exceeded; `retryAt` is when a retry may succeed.',
  /** `BuildBudgetError`. `outcome` says whether an earlier attempt may have created the resource. */
  'build-budget-exhausted': '429: the build budget of the organization is used up until `retryAt`.',
  /** `ServerError`, after the retries that the operation allows. */
  'server-error': '5xx: the service failed.',
  /** `ResponseError`. Its `body` contains the beginning of the response. */
  'not-an-envelope':
    'The body is not an envelope (MCP: not a JSON-RPC response), or the body of a 4xx is HTML or XML: a proxy responded, or the response was cut off.',
  /** `ResponseError`. The `operations` option adapts the client to such a service. */
  'response-invalid': 'A 2xx response that could not be read, or whose `data` does not have the documented shape.',
  /** `ResponseError`. Request less data, or raise `maxResponseBytes`. */
  'response-too-large': 'A 2xx response whose body is larger than `maxResponseBytes`.',
  /** `ResponseError`. If the service redirected the request, set `baseUrl` to its own address. */
  'redirect-refused': 'The service, storage or a proxy returned a redirect that the client does not follow.',
  /** `JobFailedError`. `resource` is the final state. */
  'job-failed': 'The job ended with a 4xx status (cohorts: 5), except for a lookalike with status 400.',
  /** `JobNeedsInfoError`. The service cannot build the audience as defined, or process the activation as requested. */
  'job-needs-info': 'The job ended with status 107. Only the console of the service shows the reason.',
  /** `JobCancelledError`, after `lookalikes.cancel`. */
  'job-cancelled': 'The lookalike was cancelled (status 400).',
  /** `WaitTimeoutError`. `client.waits.wait(error)` waits again. */
  'wait-timeout': 'The wait timed out; the job keeps running.',
  /** `ResultsNotReadyError`. `client.waits.wait(error)` waits for the activation. */
  'results-not-ready': 'The activation has not completed. The results are available at status 104.',
  /** `FileError`. `path` is the path of the file, if there is one. */
  'file-unreadable': 'Data to upload, or a token file, could not be read completely.',
  /** `FileError` of an upload with `openFile`. */
  'file-changed': 'A file changed after it was opened for the upload.',
  /** `FileError` of the upload of a stream. */
  'size-mismatch': 'The data to upload had more or fewer bytes than `size`.',
  /** `FileError` of a download, or of a token file. */
  'disk-full': 'The disk is full.',
  /** `FileError`. `path` is the path of the file or its lock. */
  'file-unwritable': 'A download or a token file could not be written, or its lock could not be acquired or was lost.',
  /** `DownloadError`. `saved` and `failed` list the results. */
  'download-incomplete': 'Some or all of several results of an activation could not be downloaded.',
  /** `JournalError`. Use the token of the account that wrote the journal, or another file. */
  'account-changed': 'A journal was written with another account; this call created nothing.',
  /** `JournalError`. Use another key for another body, another file, or another kind of resource. */
  'body-changed': 'The journal contains another body or resource for the key; nothing was sent.',
  /** `JournalError`. `advice` says what to look for at the service, and how to record the result in the journal. */
  'outcome-expired':
    'A create request was sent more than 23 hours ago, and its response was lost, so the journal does not repeat the request.',
  /** `JournalError`. The file is unchanged. */
  'journal-invalid': 'A file is not a journal, is damaged, or was written for another service.',
  /** `JournalError`. Only one process at a time can use a journal, and you must not move the file meanwhile. */
  'journal-locked': 'Another process uses the journal or has taken it over, or the file was replaced or removed.',
  /** `WebhookVerificationError`. Respond with 400. */
  'webhook-invalid': 'The webhook delivery could not be verified; `reason` says why.',
  /** `OAuthError` of `authorize`, `callback`, `revoke` or a refresh. */
  'oauth-failed': 'A step of OAuth failed; `error` is the reason.',
  /** `ReauthorizationRequiredError`. Call `authorize()`, then `callback()`. */
  'reauthorization-required': 'The user must sign in.',
} as const;

/** A key of {@link ERROR_CODES}. */
export type ErrorCode = keyof typeof ERROR_CODES;

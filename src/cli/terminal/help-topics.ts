import { EXIT } from './exit-codes.ts';

/** A section of the help. Each row contains a name and its meaning. */
export interface HelpTopic {
  readonly title: string;
  readonly rows: readonly (readonly [name: string, meaning: string])[];
}

/** Sections of `--help`, of `help <name>`, of the manual page, and of the guide to the command line. */
export const HELP_TOPICS: Readonly<Record<'environment' | 'exit-codes', HelpTopic>> = {
  environment: {
    title: 'Environment',
    rows: [
      ['AUDIENCE_BASE_URL', 'address of the service, like --base-url'],
      ['AUDIENCE_TOKEN', 'API token for AUDIENCE_BASE_URL; takes precedence over a profile, unless you pass --profile'],
      ['AUDIENCE_TOKEN_COMMAND', 'command that prints the token, like --token-command'],
      ['AUDIENCE_CONTRACT', 'contract file, like --contract'],
      ['AUDIENCE_MCP_TOKEN', 'token of the MCP endpoint'],
      ['AUDIENCE_PROFILE', 'profile, like --profile'],
      [
        'AUDIENCE_CONFIG_DIR',
        'folder of profiles and secrets (default: audience-activation in XDG_CONFIG_HOME or ~/.config, on Windows in APPDATA)',
      ],
      ['AUDIENCE_WEBHOOK_SECRET', 'signing secret of listen, trigger and webhooks verify'],
      ['NO_COLOR, CLICOLOR, CLICOLOR_FORCE', 'colors of the output'],
    ],
  },
  'exit-codes': {
    title: 'Exit codes',
    rows: [
      [EXIT.done, 'The command succeeded.'],
      [
        EXIT.unexpected,
        'Any other failure, such as a lost connection, an error of the service, an unusable file or a passed `--deadline`. Correct what the message names, and repeat the command.',
      ],
      [EXIT.usage, 'A flag, an argument or the body is invalid. Nothing was created, changed or deleted.'],
      [
        EXIT.jobFailed,
        'A job failed: the status is 4xx (except for a cancelled lookalike), or 5 for a cohort. For `run`, also: a resource was deleted.',
      ],
      [
        EXIT.jobNeedsInfo,
        "A job needs information (status 107). Read the reason in the service's console, change the body or the row, and create the resource again.",
      ],
      [EXIT.jobCancelled, 'A job was cancelled, for example a lookalike (status 400).'],
      [EXIT.waitTimedOut, 'The command stopped waiting for a job (`--timeout` or `--deadline`). Wait again.'],
      [
        EXIT.authentication,
        'The token is missing, unusable or refused. Do what the message says, for example run `aud login`.',
      ],
      [
        EXIT.refused,
        'For example, the service refused the request (403, 404, 409 or 422), a signature is invalid, a receiver did not accept an event, or an activation is blocked (`explain`). Correct what the message names.',
      ],
      [
        EXIT.limited,
        'A rate limit or the build budget is used up. Repeat the command at the time that the message names (`retryAt`).',
      ],
      [
        EXIT.outcomeUnknown,
        'A create request may have taken effect. Run the command after `To continue`, if one is printed (`cohorts import`: within 15 minutes). Otherwise, repeat the command with the printed `--idempotency-key` within 24 hours: the service creates only one resource. After `run`, start the same command again within 23 hours.',
      ],
      [EXIT.differs, 'The service differs from the assumptions of the client, or has changed (`check`).'],
      [
        EXIT.cutShort,
        'The check reached its limit of requests, the service blocked it, or it could not verify something that an earlier check confirmed (`check`).',
      ],
      [
        EXIT.journalTaken,
        'Another run uses the journal, or the journal was edited, replaced, moved or removed (`run`). Wait until that run ends, or restore the journal.',
      ],
      [EXIT.interrupted, 'Ctrl-C interrupted the command, or you declined to continue.'],
      [EXIT.terminated, 'SIGTERM terminated the command.'],
    ].map(([code, meaning]) => [String(code), String(meaning)]),
  },
};

/** Sections of the help of `run`, of the manual page, and of the guide to nightly jobs. */
export const RUN_TOPICS: readonly HelpTopic[] = [
  {
    title: 'Rows',
    rows: [
      [
        'JSON Lines',
        'Each line is a row: `{"key": "north", "name": "North", "dataset": [{"analysis_type": "WebDomain", "start_date": "2026-10-20", "end_date": "2026-11-20"}]}`.',
      ],
      ['JSON', 'The file is an array of such objects.'],
      [
        'CSV',
        'The header names the fields, such as `key,name,project_id,dataset.0.analysis_type,dataset.0.start_date,dataset.0.end_date`. The file must be UTF-8. The separator is a comma, a semicolon or a tab, or the character in a first line such as `sep=;`. The command omits empty cells. The fields `project_id` and `cohort_id` are numbers.',
      ],
      [
        'key',
        'Name of the row in the journal, and of the folder for its files: 1 to 100 of the characters A-Z a-z 0-9 _ - and . (no dot at the start or the end). The command does not send the key.',
      ],
      [
        'file',
        'Path of a cohort file, relative to the folder of the rows (with standard input: to the current folder). The command imports the file as a cohort, and builds the audience from the cohort. If the content of the file changes later, give the row another key.',
      ],
      [
        'checks',
        'Before it sends anything, the command checks the whole file: encoding, number of cells, repeated headers, dates and numbers. The first run also refuses the file if the fields of a row are invalid, or if a cohort file is unreadable or empty. Later runs refuse only such rows. The service checks each row when it receives the row.',
      ],
    ],
  },
  {
    title: 'The journal',
    rows: [
      [
        '<file>.journal',
        'Records what was created. If you run the same command again, the command creates nothing twice. Without the journal, it creates everything again.',
      ],
      [
        'a key',
        'Is bound to one body for as long as you keep the journal, unless the service refused the body. If you change a created row, even its name, give the row another key: the command then creates a new audience, because the service cannot change an audience. For a nightly job, put the date into the name of the journal.',
      ],
      ['new rows', 'The next run creates new rows, and ignores rows that you have removed.'],
      ['one run', 'Only one run at a time can use a journal, on one machine and with one account.'],
    ],
  },
  {
    title: 'Order',
    rows: [
      [
        'create requests',
        'The command sends one create request at a time: first requests whose outcome is unknown, then activations, then cohorts and audiences, each in the order of the rows.',
      ],
      [
        'a failure',
        'If a create request fails after its retries (`--max-retries`), the command continues with the next row. The next run sends the request again.',
      ],
      [
        'an outage',
        'After three failed create requests in a row, or after fewer if no others are left and a read also fails, the command waits until a read succeeds, for at most `--outage-wait`. Then it sends the failed requests once more.',
      ],
      [
        'the build budget',
        'If the budget or a rate limit is used up, the command waits until the service accepts create requests again, for at most `--budget-wait`.',
      ],
    ],
  },
  {
    title: 'How a row ends',
    rows: [
      [
        'done',
        'The audience is built. With `--activate` or `--download`, the audience is also activated. With `--download`, the result files are saved. The row stays done, even if you move the files or delete the audience.',
      ],
      [
        'blocked',
        'The audience is built, but cannot be activated. Each run checks the audience again. The exit code is 0, or 8 with `--fail-on-blocked`.',
      ],
      [
        'failed',
        'The job ended with status 107 or 4xx (5 for a cohort), or its resource was deleted. `--retry-failed` creates the resource again, even if you have corrected the row. Exit code 3, 4 or 5.',
      ],
      [
        'refused',
        'The service or the command refused the row, its body or `--activate` has changed, or its file is missing or empty. Correct the row, and run the command again. Exit code 8.',
      ],
      [
        'unfinished',
        'The job is still running, the row was not sent, or the result files are not saved yet. Run the command again. Exit code 6; 9 if the build budget or a rate limit is used up; 1 after a failed request, download or write; 7 without a valid token; 8 if the token is not permitted to create the resource.',
      ],
      [
        'unknown',
        'A create request may have taken effect. Run the command again within 23 hours. After 23 hours, look for the resource in its list. If the resource exists, pass `--resolve <key>=<id>`. Otherwise, pass `--forget <key>`. Exit code 10; 7 if another token sent the request; 8 after 23 hours, or if the body has changed.',
      ],
    ],
  },
  {
    title: 'Output',
    rows: [
      [
        'columns',
        'key, state, audience, activation, reason. The reason is the code of the error, or says why the row is blocked, unfinished or unknown.',
      ],
      [
        '--json',
        'One line for each change, with its time (`at`), the columns, `cohort`, `files` and `error`. The last line of a key is the result of the row.',
      ],
      [
        '--status',
        'done: nothing is left to do. audience 12 created …: the latest job of the row. in doubt: its create request may have taken effect. not begun: nothing was sent, or the service refused the row. (no row): the journal has the key, but the file does not.',
      ],
      [
        '--dry-run',
        'create, activate, send again: the run would send a create request. wait: the run would read the state of the job. changed: the body of the row or `--activate` has changed. done, refused, unknown: see above.',
      ],
      [
        '--report',
        'Writes the final table, with the files and the error of each row, as CSV or JSON, depending on the extension of the file.',
      ],
      [
        'exit codes',
        '1, 6, 9, 10: run the same command again, even if other rows need a correction. 3, 4, 5, 7, 8: correct the problem that the output describes. 2: the same, but the command has sent nothing. 13: another run uses the journal, or the journal was edited, replaced, moved or removed.',
      ],
    ],
  },
];

export function textOfTopic({ title, rows }: HelpTopic): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return [`${title}:`, ...rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`)].join('\n');
}

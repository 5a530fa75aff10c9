import { EXIT } from './exit-codes.ts';

/** A section of the help: its rows are a name and what it means. */
export interface HelpTopic {
  readonly title: string;
  readonly rows: readonly (readonly [name: string, meaning: string])[];
}

/** Sections of `--help`, also printed by `help <name>`, and part of the manual page. */
export const HELP_TOPICS: Readonly<Record<'environment' | 'exit-codes', HelpTopic>> = {
  environment: {
    title: 'Environment',
    rows: [
      ['AUDIENCE_BASE_URL', 'address of the service, as --base-url'],
      ['AUDIENCE_TOKEN', 'API token for that address; takes precedence over a profile, except that of --profile'],
      ['AUDIENCE_TOKEN_COMMAND', 'command that prints the token, as --token-command'],
      ['AUDIENCE_CONTRACT', 'file with the differences of the service, as --contract'],
      ['AUDIENCE_MCP_TOKEN', 'token of the MCP endpoint'],
      ['AUDIENCE_PROFILE', 'profile, as --profile'],
      ['AUDIENCE_CONFIG_DIR', 'folder of profiles and secrets (default: ~/.config/audience-activation)'],
      ['AUDIENCE_WEBHOOK_SECRET', 'signing secret of listen, trigger and webhooks verify'],
      ['NO_COLOR, CLICOLOR, CLICOLOR_FORCE', 'colours'],
    ],
  },
  'exit-codes': {
    title: 'Exit codes',
    rows: [
      [EXIT.done, 'done'],
      [EXIT.unexpected, 'unexpected error: no connection, a server error, a file'],
      [EXIT.usage, 'wrong usage, or a body that would certainly be refused; nothing was sent'],
      [EXIT.jobFailed, 'a job failed'],
      [EXIT.jobNeedsInfo, 'a job needs information (status 107)'],
      [EXIT.jobCancelled, 'a job was cancelled'],
      [EXIT.waitTimedOut, 'the wait timed out; the job continues'],
      [EXIT.authentication, 'no token, or it was refused'],
      [EXIT.refused, 'refused: 403, 404, 409, 422, an invalid signature, a blocked activation (explain)'],
      [EXIT.limited, 'rate limit or build budget'],
      [EXIT.outcomeUnknown, 'the outcome of a create is unknown: repeat it with the printed key'],
      [EXIT.differs, 'the service differs from the assumptions, or has changed (check)'],
      [EXIT.cutShort, 'cut short, or something could not be checked that was confirmed earlier (check)'],
      [EXIT.journalTaken, 'another run uses the journal, or has taken it over (run)'],
      [EXIT.interrupted, 'interrupted by Ctrl-C'],
      [EXIT.terminated, 'terminated by SIGTERM'],
    ].map(([code, meaning]) => [String(code), String(meaning)]),
  },
};

/** Sections of the help of `run`, and of the manual page. */
export const RUN_TOPICS: readonly HelpTopic[] = [
  {
    title: 'Rows',
    rows: [
      [
        'JSON Lines',
        'a row in each line: {"key": "north", "name": "North", "dataset": [{"analysis_type": "WebDomain"}]}',
      ],
      ['JSON', 'an array of such objects'],
      [
        'CSV',
        'a header such as key,name,project_id,dataset.0.analysis_type,dataset.0.start_date,dataset.0.end_date, in UTF-8, with commas; empty cells are left out, and project_id and cohort_id are numbers',
      ],
      ['key', 'names the row in the journal and its folder: 1 to 100 of A-Z a-z 0-9 _ - .; all other fields are sent'],
      ['file', 'a file to import as a cohort first, relative to the rows; the audience is built from it'],
      [
        'checks',
        'come first, for the whole file: encoding, cells, repeated headers, dates, numbers. If one fails, nothing is sent; the service checks the rest, row by row',
      ],
    ],
  },
  {
    title: 'The journal',
    rows: [
      ['<file>.journal', 'remembers what was created: run the same command again, and nothing is created twice'],
      [
        'a key',
        'stands for one body as long as the journal is kept; a nightly job has the date in the name of its journal',
      ],
      ['new rows', 'are created; rows that were removed are left alone; a changed row is refused: give it another key'],
      ['one machine', 'uses a journal, and one run at a time; a lost journal means that everything is created again'],
    ],
  },
  {
    title: 'Order',
    rows: [
      [
        'creates',
        'go one after another: what is in doubt, then activations, then audiences; in each, the first row first',
      ],
      ['a failure', 'puts aside its row after the retries of the client (--max-retries), and the next row goes on'],
      [
        'an outage',
        'is three failures without a success, or fewer if a read fails, too: then a read is tried until it succeeds, for at most --outage-wait, and what failed is sent once more',
      ],
      ['the budget', 'is awaited for at most --budget-wait'],
    ],
  },
  {
    title: 'How a row ends',
    rows: [
      ['done', 'built; activated, and its files saved, if asked. It stays done, also if you move its files'],
      [
        'blocked',
        'built, but cannot be activated; each run asks again. The exit code stays 0, or is 8 with --fail-on-blocked',
      ],
      [
        'failed',
        'its job ended at 107 or 4xx, or was deleted: --retry-failed creates it again, also with a corrected row (3, 4, 5)',
      ],
      ['refused', 'the service refused it: correct the row and run again; or its body has changed (8)'],
      [
        'unfinished',
        'still running, not begun, or its files are missing: run again (6; after a spent budget 9, a failed request, download or write 1, without a token 7)',
      ],
      [
        'unknown',
        'its create may have happened: run again within 23 hours; after that, look in the list, then --resolve <key>=<id> or --forget <key> (10)',
      ],
    ],
  },
  {
    title: 'Output',
    rows: [
      ['columns', 'key, state, audience, activation, reason: why it is blocked, or the code of its error'],
      [
        '--json',
        'a line for each change, with its time as at, these fields, files and error; the last line of a key is how it ended',
      ],
      [
        '--status',
        'done: its files are saved; waiting for …: its last job, also if that has ended since; in doubt: its create may have happened; not begun',
      ],
      ['--report', 'the last table, with the files of each row, as CSV or JSON by the ending of the file'],
      [
        'exit codes',
        '1, 6, 9, 10: run the same command again; 3, 4, 5, 7, 8: a person has to look; 2: nothing was sent; 13: another run uses the journal',
      ],
    ],
  },
];

/** Returns a section of the help as text. */
export function textOfTopic({ title, rows }: HelpTopic): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return [`${title}:`, ...rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`)].join('\n');
}

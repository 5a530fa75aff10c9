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
      [EXIT.interrupted, 'interrupted by Ctrl-C'],
      [EXIT.terminated, 'terminated by SIGTERM'],
    ].map(([code, meaning]) => [String(code), String(meaning)]),
  },
};

/** Returns a section of the help as text. */
export function textOfTopic({ title, rows }: HelpTopic): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return [`${title}:`, ...rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`)].join('\n');
}

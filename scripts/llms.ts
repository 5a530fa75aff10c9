import { readFileSync } from 'node:fs';

/** A document for agents, and what it is about. */
interface Document {
  readonly path: string;
  readonly about: string;
}

/** The guides, in the order in which a program needs them. Benchmarks and the glossary are for people. */
const GUIDES: readonly Document[] = [
  { path: 'docs/getting-started.md', about: 'from nothing to a first audience, with the sandbox and with the service' },
  { path: 'docs/how-it-works.md', about: 'a call, a failed create, a job, many waits, several processes' },
  {
    path: 'docs/adapting-to-your-service.md',
    about: 'what differs at your service: the command `check`, contracts, overrides, fields that are not documented',
  },
  {
    path: 'docs/reference.md',
    about: 'options of the client and of calls, namespaces and their methods, entry points',
  },
  { path: 'docs/authentication.md', about: 'tokens: which source to use, stores for processes that share one' },
  { path: 'docs/jobs.md', about: 'waits for jobs, how they poll, resuming, webhooks that end them' },
  {
    path: 'docs/errors-and-retries.md',
    about: 'error classes and codes, outcomes of creates, retries, idempotency keys, what can be lost',
  },
  { path: 'docs/troubleshooting.md', about: 'messages of errors and what to do, all codes' },
  { path: 'docs/limits.md', about: 'rate limits, the build budget, more creates than it allows' },
  { path: 'docs/files.md', about: 'files of cohorts, result files of activations' },
  { path: 'docs/webhooks.md', about: 'verifying and receiving events' },
  { path: 'docs/testing.md', about: 'tests with the sandbox: time, faults, msw' },
  { path: 'docs/sandbox.md', about: 'the emulated service: accounts, jobs, limits, what it makes up' },
  { path: 'docs/scaling.md', about: 'several processes: limits, tokens and waits through Redis' },
  { path: 'docs/telemetry.md', about: 'hooks, logs, OpenTelemetry' },
  { path: 'docs/browsers.md', about: 'pages and workers: tokens, CORS, bundles' },
  { path: 'docs/oauth.md', about: 'OAuth 2.1 for users' },
  { path: 'docs/mcp.md', about: 'the MCP endpoint' },
  { path: 'docs/cli.md', about: 'the command line' },
  { path: 'docs/console.md', about: 'pages of the sandbox for the service’s console and for testers' },
  { path: 'docs/proxies.md', about: 'proxies and certificates' },
  { path: 'docs/openapi.md', about: 'the contract as an OpenAPI document' },
  { path: 'docs/assumptions.md', about: 'operations, and what the package assumes about the service' },
  { path: 'docs/typescript.md', about: 'settings of Jest and TypeScript' },
  { path: 'docs/comparison.md', about: 'generated clients and other SDKs' },
  { path: 'docs/support.md', about: 'runtimes, versions, deprecation' },
];

/** Declarations of the entry points, written by `npm run api`. */
const ENTRIES = ['index', 'node', 'webhooks', 'sandbox', 'oauth', 'mcp', 'redis', 'otel'] as const;

/** The beginning of `llms.txt`: facts that a program needs, and three programs that tests run. */
export const START = 'scripts/llms/start.md';

/** Returns `llms.txt`: what the package is, how to begin, and where to read more. */
export function indexText(): string {
  const links = GUIDES.map(({ path, about }) => `- [${titleOf(path)}](${path}): ${about}`);
  return [
    readFileSync(START, 'utf8'),
    'The declarations of all exports: `llms-api.txt`; with doc comments: `dist/*.d.ts`. More programs: `examples`. The contract for tools: `audience-activation/openapi.json`.',
    '',
    '## Documentation',
    '',
    '- [README](README.md): installation and the most common tasks',
    ...links,
    '',
    '## Optional',
    '',
    '- [Glossary](docs/glossary.md): terms',
    '- [Benchmarks](docs/benchmarks.md): figures',
    '- [Changelog](CHANGELOG.md): changes',
    '',
  ].join('\n');
}

/** Returns `llms-api.txt`: the declarations of everything that is exported. */
export function declarationsText(): string {
  return [
    '# audience-activation: the declarations',
    '',
    'All exports, without comments and without the bodies of errors. How they are used: the guides that `llms.txt` lists.',
    ...ENTRIES.flatMap((entry) => ['', declarationsOf(entry)]),
    '',
  ].join('\n');
}

const titleOf = (path: string): string => /^# (.+)$/m.exec(readFileSync(path, 'utf8'))?.[1] ?? path;

/** Returns the declarations of an entry point. Not as TypeScript: they name types that are not exported. */
const declarationsOf = (entry: string): string => {
  const report = readFileSync(`api/${entry}.api.md`, 'utf8');
  const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(report) ?? [];
  const specifier = entry === 'index' ? 'audience-activation' : `audience-activation/${entry}`;
  return `## ${specifier}\n\n\`\`\`text\n${code.trim()}\n\`\`\``;
};

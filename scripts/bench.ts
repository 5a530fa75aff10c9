import { runProgram } from './programs.ts';

/** `npm run bench -- NAME` measures what a figure of docs/benchmarks.md says. */
await runProgram('bench', {
  size: { path: 'bench/size.ts', about: 'bundles for browsers, of this client and of others' },
  startup: { path: 'bench/startup.ts', about: 'the first response of a process, and imports' },
  overhead: { path: 'bench/overhead.ts', about: 'CPU of a call: sequential, concurrent, with OpenTelemetry' },
  waiting: { path: 'bench/waiting.ts', about: 'how late waits notice the end of a job' },
  fleet: { path: 'bench/fleet.ts', about: 'waits of several processes that share the limits of a token' },
  webhooks: { path: 'bench/webhooks.ts', about: 'verified deliveries a second' },
  upload: { path: 'bench/upload.ts', about: 'a gigabyte from disk to the service, and back' },
  sandbox: { path: 'bench/sandbox.ts', about: 'reads of the sandbox, its start and its memory' },
});

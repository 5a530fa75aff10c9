import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { type Projects, writeProgram } from './project.ts';

/** A sandbox in another process, from the installed package. */
export interface Host {
  readonly baseUrl: string;
  readonly token: string;
}

/** Serves a sandbox over HTTP while `work` runs. */
export async function withHost<T>({ app }: Projects, name: string, work: (host: Host) => Promise<T>): Promise<T> {
  const file = await writeProgram(app, 'host', 'esm', `host-${name}.mjs`);
  const child = spawn(process.execPath, [file], { cwd: app, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  try {
    return await work(JSON.parse(await firstLine(child.stdout)));
  } finally {
    child.stdin.end();
    await ended;
  }
}

/** Resolves with the first line that a process writes. */
export async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(stream)) return line;
  throw new Error('The process has ended without output.');
}

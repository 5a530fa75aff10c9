import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';

/** A place in a file. */
interface Definition {
  readonly file: string;
  /** Text of the line. */
  readonly line: string;
}

/**
 * Writes a program to a new folder, and asks the language server of TypeScript where the last occurrence of each name in
 * it is defined.
 */
export async function definitionsOf(folder: string, text: string, names: readonly string[]): Promise<Definition[]> {
  const file = join(folder, 'program.ts');
  mkdirSync(folder);
  writeFileSync(file, text);
  const compilerOptions = { module: 'nodenext', target: 'es2023', strict: true };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
  const server = spawn(process.execPath, [resolve('node_modules/typescript/lib/tsserver.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void server.kill());
  const send = (command: string, args: object, seq: number): void => {
    server.stdin.write(`${JSON.stringify({ seq, type: 'request', command, arguments: args })}\n`);
  };
  send('open', { file }, 0);
  for (const [index, name] of names.entries()) {
    const before = text.slice(0, text.lastIndexOf(name)).split('\n');
    send('definition', { file, line: before.length, offset: (before.at(-1) ?? '').length + 1 }, index + 1);
  }
  const definitions: Definition[] = [];
  for await (const line of createInterface({ input: server.stdout })) {
    const message = line.startsWith('{') ? JSON.parse(line) : {};
    if (message.command !== 'definition') continue;
    const [place] = message.body ?? [];
    const at = place ? { file: place.file, line: lineOf(place) } : { file: '', line: String(message.message) };
    definitions[message.request_seq - 1] = at;
    if (Object.keys(definitions).length === names.length) break;
  }
  return definitions;
}

const lineOf = ({ file, start }: { readonly file: string; readonly start: { readonly line: number } }): string =>
  readFileSync(file, 'utf8').split('\n')[start.line - 1] ?? '';

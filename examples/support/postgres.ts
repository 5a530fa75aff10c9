import { execFile, spawn } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

/** Folder of the programs of PostgreSQL, by default the folder of Debian's packages. */
export const POSTGRES_BIN =
  process.env.POSTGRES_BIN_PATH ?? globSync('/usr/lib/postgresql/*/bin').sort().at(-1) ?? '/usr/lib/postgresql';

/** A PostgreSQL server. */
export interface Postgres {
  readonly url: string;
  stop(): Promise<void>;
}

/** PostgreSQL is missing. */
export class NoPostgresError extends Error {
  constructor() {
    super(
      `PostgreSQL was not found in ${POSTGRES_BIN}. Install it, or set POSTGRES_BIN_PATH to the folder of its programs or DATABASE_URL to a database.`,
    );
    this.name = 'NoPostgresError';
  }
}

/** Returns the user to run PostgreSQL as, which refuses to run as root. */
async function serverUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(['-u', '-g'].map(async (flag) => (await run('id', [flag, 'postgres'])).stdout));
  return { uid: Number(uid), gid: Number(gid) };
}

/** Starts a PostgreSQL server on a free loopback port, with a new database in a temporary folder. */
export async function startPostgres(): Promise<Postgres> {
  if (!existsSync(join(POSTGRES_BIN, 'initdb'))) throw new NoPostgresError();
  const user = await serverUser();
  const folder = await mkdtemp(join(tmpdir(), 'audience-activation-'));
  if (user) await chown(folder, user.uid, user.gid);
  const data = ['-D', join(folder, 'data')];
  const options = { cwd: folder, ...user };
  const cluster = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'];
  await run(join(POSTGRES_BIN, 'initdb'), [...data, ...cluster], options);
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', 'max_connections=200'];
  const args = [...data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
  const child = spawn(join(POSTGRES_BIN, 'postgres'), args, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  // SIGQUIT ends the server and its processes immediately; they would survive a SIGKILL of the server.
  const end = (): void => void child.kill('SIGQUIT');
  process.once('exit', end);
  // Only SIGTERM is handled: a terminal sends Ctrl-C to both processes.
  const exit = (): void => process.exit(1);
  process.once('SIGTERM', exit);
  await new Promise<void>((resolve, reject) => {
    let output = '';
    child.once('exit', () => reject(new Error(`PostgreSQL has not started: ${output}`)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('ready to accept connections')) resolve();
    });
  });
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async stop() {
      end();
      await exited;
      process.off('exit', end).off('SIGTERM', exit);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

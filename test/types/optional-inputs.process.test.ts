import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ENTRIES } from '../../scripts/package/runtimes.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { propertiesWithoutUndefined } from './optional-inputs.ts';

const declarationsOf = (entry: string): string => resolve('dist', `${entry.slice(2) || 'index'}.d.ts`);

describe('optional properties', () => {
  it('optional properties of everything that a user passes accept `undefined` under `exactOptionalPropertyTypes`', () => {
    expect(propertiesWithoutUndefined(ENTRIES.map(declarationsOf))).toEqual([]);
  });

  it('optional properties that do not accept `undefined` are found in options, callback results and mapped types, not in what a user receives', async () => {
    const file = join(await temporaryDirectory(), 'index.d.ts');
    await writeFile(
      file,
      `interface Deep { readonly inner?: { readonly tight?: number; readonly wide?: number | undefined } | undefined }
      interface Received { readonly given?: string }
      interface Options extends Partial<Record<'mapped', string>> {
        readonly deep?: readonly Deep[] | undefined;
        readonly outcome?: ((received: Received) => Promise<{ readonly result?: string }>) | undefined;
      }
      export class Client { constructor(options: Options); call(): Promise<Received>; plain(flag?: boolean): void }`,
    );
    expect(propertiesWithoutUndefined([file])).toEqual([
      'Deep.inner.tight',
      'Options.mapped',
      'Options.outcome().result',
    ]);
  });
});

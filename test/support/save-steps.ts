import { promises } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Calls `reach` at each step of the saves of token files in this process. If `step` is `half`, half of the file has
 * been written when that step is reached.
 */
export async function atSaveSteps(step: string, reach: (now: string) => Promise<void>): Promise<void> {
  const { rename } = promises;
  promises.rename = async (from, to) => {
    await reach('rename');
    await rename(from, to);
    await reach('renamed');
  };
  syncBuiltinESMExports();
  const probe = await promises.open(process.execPath);
  const handles: FileHandle = Object.getPrototypeOf(probe);
  await probe.close();
  const { writeFile, sync } = handles;
  handles.writeFile = async function (text) {
    await reach('write');
    if (step === 'half') await writeFile.call(this, String(text).slice(0, String(text).length / 2));
    await reach('half');
    await writeFile.call(this, text);
  };
  handles.sync = async function () {
    await reach('sync');
    await sync.call(this);
  };
}

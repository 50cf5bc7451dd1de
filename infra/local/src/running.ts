import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Notes where the databases of this start are, for the commands that look into them. Readable by the owner alone. */
export async function noteRunning(
  directory: string,
  databases: readonly (readonly [service: string, url: string])[],
): Promise<void> {
  const note = { databases: Object.fromEntries(databases) };
  await writeFile(join(directory, 'running.json'), `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 });
}

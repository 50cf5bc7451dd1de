import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const Note = z.object({
  databases: z.record(z.string(), z.string()),
  /** Further variables that commands need, such as where simulated payments are kept. */
  environment: z.record(z.string(), z.string()),
});
export type RunningNote = Readonly<z.output<typeof Note>>;

const runningFile = (directory: string) => join(directory, 'running.json');

/** Writes down where the databases of the running platform are, for `npm run ops`. Only the owner can read the file. */
export async function noteRunning(directory: string, note: RunningNote): Promise<void> {
  await writeFile(runningFile(directory), `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 });
}

/** Reads the note of the platform that runs in a folder, or ran there last; undefined if none ever did. */
export async function readRunning(directory: string): Promise<RunningNote | undefined> {
  const text = await readFile(runningFile(directory), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : Note.parse(JSON.parse(text));
}

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const Note = z.object({
  databases: z.record(z.string(), z.string()),
  /** What else a command needs to look at the same things. */
  environment: z.record(z.string(), z.string()),
});
export type RunningNote = Readonly<z.output<typeof Note>>;

/** Where the note of what runs in a folder lies. */
const runningFile = (directory: string) => join(directory, 'running.json');

/** Notes where the databases of this start are, for the commands that look into them. Readable by the owner alone. */
export async function noteRunning(directory: string, note: RunningNote): Promise<void> {
  await writeFile(runningFile(directory), `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 });
}

/** What runs in a folder, or ran there last; undefined where nothing ever did. */
export async function readRunning(directory: string): Promise<RunningNote | undefined> {
  const text = await readFile(runningFile(directory), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : Note.parse(JSON.parse(text));
}

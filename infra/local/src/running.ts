import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

interface Note {
  readonly databases: Readonly<Record<string, string>>;
  /** What else a command needs to look at the same things. */
  readonly environment: Readonly<Record<string, string>>;
}

const fileIn = (directory: string) => join(directory, 'running.json');

/** Notes where the databases of this start are, for the commands that look into them. Readable by the owner alone. */
export async function noteRunning(directory: string, note: Note): Promise<void> {
  await writeFile(fileIn(directory), `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 });
}

/** The environment of a command that looks at what runs in a folder; ends the process where nothing does. */
export async function readRunning(directory: string, service: string): Promise<Readonly<Record<string, string>>> {
  const text = await readFile(fileIn(directory), 'utf8').catch(() => undefined);
  const note = text === undefined ? undefined : (JSON.parse(text) as Note);
  const url = note?.databases[service];
  if (note && url !== undefined) return { ...note.environment, DATABASE_URL: url };
  console.error(`Nothing runs here (there is no ${fileIn(directory)}), and DATABASE_URL is not set.`);
  process.exit(2);
}

import { globSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What is generated. */
export interface Generated {
  /** Text by path, from the root of the checkout. */
  readonly files: ReadonlyMap<string, string>;
  /** Folders in which nothing else may be. */
  readonly folders: readonly string[];
}

/** A file that is not as it would be generated. */
export interface Difference {
  readonly file: string;
  /** For a person: what is wrong with it. */
  readonly detail: string;
}

/** Lines that are shown of a difference. */
const shown = 3;

/** Writes every file, and removes what was generated before and is no more. Resolves to the paths that have changed. */
export async function writeTree(root: string, { files, folders }: Generated): Promise<string[]> {
  const changed = (await differencesIn(root, { files, folders })).map(({ file }) => file);
  for (const file of changed) {
    const text = files.get(file);
    if (text === undefined) {
      await rm(join(root, file));
      continue;
    }
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), text);
  }
  return changed;
}

export async function differencesIn(root: string, { files, folders }: Generated): Promise<Difference[]> {
  const found: Difference[] = [];
  for (const [file, expected] of files) {
    const there = await readFile(join(root, file), 'utf8').catch(() => undefined);
    if (there === undefined) found.push({ file, detail: 'is not there' });
    else if (there !== expected) found.push({ file, detail: firstDifference(there, expected) });
  }
  const left = folders.flatMap((folder) =>
    globSync(`${folder}/**/*`, { cwd: root, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)),
  );
  return [
    ...found,
    ...left
      .filter((file) => !files.has(file))
      .map((file) => ({ file, detail: 'is generated no more, and still there' })),
  ];
}

function firstDifference(there: string, expected: string): string {
  const [lines, wanted] = [there.split('\n'), expected.split('\n')];
  const first = wanted.findIndex((line, index) => line !== lines[index]);
  const at = first < 0 ? wanted.length : first;
  const quoted = (sign: string, text: readonly string[]) =>
    text.slice(at, at + shown).map((line) => `    ${sign} ${line}`);
  return [`differs from line ${at + 1} on`, ...quoted('-', lines), ...quoted('+', wanted)].join('\n');
}

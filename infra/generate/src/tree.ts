import { globSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The generated files. */
export interface Generated {
  /** Texts by path, relative to the checkout's root. */
  readonly files: ReadonlyMap<string, string>;
  /** Folders that may contain only generated files. */
  readonly folders: readonly string[];
}

/** A file that is out of date. */
export interface Difference {
  readonly file: string;
  /** What is wrong with it, for output. */
  readonly detail: string;
}

/** How many lines of a difference are shown. */
const maxLines = 3;

/** Writes all files and removes those that are no longer generated. Resolves to the paths of changed files. */
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
    const actual = await readFile(join(root, file), 'utf8').catch(() => undefined);
    if (actual === undefined) found.push({ file, detail: 'is missing' });
    else if (actual !== expected) found.push({ file, detail: firstDifference(actual, expected) });
  }
  const existing = folders.flatMap((folder) =>
    globSync(`${folder}/**/*`, { cwd: root, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)),
  );
  return [
    ...found,
    ...existing
      .filter((file) => !files.has(file))
      .map((file) => ({ file, detail: 'is no longer generated and must be removed' })),
  ];
}

function firstDifference(actual: string, expected: string): string {
  const [lines, wanted] = [actual.split('\n'), expected.split('\n')];
  const first = wanted.findIndex((line, index) => line !== lines[index]);
  const at = first < 0 ? wanted.length : first;
  const quoted = (sign: string, text: readonly string[]) =>
    text.slice(at, at + maxLines).map((line) => `    ${sign} ${line}`);
  return [`differs from line ${at + 1} on`, ...quoted('-', lines), ...quoted('+', wanted)].join('\n');
}

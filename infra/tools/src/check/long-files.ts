import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../workspace.ts';

const maxLines = 400;
const excluded = ['**/node_modules', '**/generated', '**/fixtures', '**/.*'];

/** Finds files that are too long to read at once. They do too much. */
export async function findLongFiles(): Promise<string | undefined> {
  const files = globSync(['*.{ts,mjs}', '{gateway,services,libs,infra}/**/*.{ts,mjs}'], {
    cwd: root,
    exclude: excluded,
  });
  const long = files
    .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > maxLines);
  if (long.length === 0) return undefined;
  return long.map(({ file, lines }) => `${file}: ${lines} lines; ${maxLines} at most`).join('\n');
}

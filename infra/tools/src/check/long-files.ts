import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../workspace.ts';

const mostLines = 400;
const notOurs = ['**/node_modules', '**/generated', '**/fixtures', '**/.*'];

/** A file that takes long to read through does too much. */
export async function findLongFiles(): Promise<string | undefined> {
  const files = globSync(['*.{ts,mjs}', '{gateway,services,libs,infra}/**/*.{ts,mjs}'], {
    cwd: root,
    exclude: notOurs,
  });
  const long = files
    .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > mostLines);
  if (long.length === 0) return undefined;
  return long.map(({ file, lines }) => `${file}: ${lines} lines; ${mostLines} at most`).join('\n');
}

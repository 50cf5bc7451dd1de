import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { root } from '../workspace.ts';

export interface Step {
  readonly name: string;
  /** Resolves to what is wrong; undefined if all is well. */
  readonly run: () => Promise<string | undefined>;
}

/** A step that runs a program of this checkout. It succeeds if the program exits with 0. */
export function program(file: string, ...args: readonly string[]): Step['run'] {
  return async () => {
    const child = spawn(process.execPath, [join(root, file), ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...(process.stderr.isTTY && { FORCE_COLOR: '1' }) },
    });
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return child.exitCode === 0 ? undefined : `${out}${err}` || `${file} ended with ${child.exitCode}`;
  };
}

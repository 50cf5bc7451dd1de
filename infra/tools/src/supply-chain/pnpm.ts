import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { root } from '../workspace.ts';

export interface PnpmResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs the pnpm that installed this checkout, and resolves to its exit code and output. */
export async function pnpm(...args: readonly string[]): Promise<PnpmResult> {
  const { PLATFORM_PNPM: program } = process.env;
  const [command, first] = program ? [process.execPath, [program]] : ['pnpm', []];
  const child = spawn(command, [...first, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode ?? 1, out, err };
}

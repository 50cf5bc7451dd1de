import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs a program and resolves to its output; rejects if it fails. */
export async function run(program: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execute(program, [...args], { maxBuffer: 64 * 2 ** 20 });
  return stdout;
}

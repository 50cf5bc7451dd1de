import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The path of a program on PATH. */
export async function which(program: string): Promise<string | undefined> {
  for (const directory of (process.env.PATH ?? '').split(delimiter)) {
    if (directory !== '' && (await isProgram(join(directory, program)))) return join(directory, program);
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

export interface Outcome {
  ok: boolean;
  /** Its output, from stdout and stderr. */
  output: string;
}

/** Runs a program to its end, or kills it after `ms`. Never rejects: if it cannot be started, the result is not `ok`. */
export function run(
  program: string,
  args: string[],
  options: { ms: number; env?: Record<string, string>; cwd?: string },
): Promise<Outcome> {
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...options.env },
      ...(options.cwd !== undefined && { cwd: options.cwd }),
    });
    const streams = [child.stdout, child.stderr];
    for (const stream of streams) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const timer = setTimeout(() => {
      output += `\n${program} took longer than ${options.ms / 1_000} s`;
      child.kill('SIGKILL');
      // A grandchild may keep the pipes open, which would delay the end.
      for (const stream of streams) stream.destroy();
    }, options.ms);
    const end = (ok: boolean) => {
      clearTimeout(timer);
      resolve({ ok, output: output.trim() });
    };
    child.once('error', (error) => {
      output += error.message;
      end(false);
    });
    child.once('close', (code) => end(code === 0));
  });
}

/** The last lines of a text. Those of a failed program's output usually state the reason. */
export function tail(text: string, lines = 15): string {
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}

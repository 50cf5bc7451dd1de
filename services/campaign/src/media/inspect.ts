import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Answers, Task } from './inspector/tasks.ts';
import { bareEnvironment, childMemory, ended } from './limited.ts';

const program = fileURLToPath(new URL('./inspector/main.ts', import.meta.url));

/** Has a process of its own look at a file. Rejects if that process dies, or takes too much. */
export async function inspect<K extends Task['kind']>(
  task: Extract<Task, { kind: K }>,
  signal: AbortSignal,
): Promise<Answers[K]> {
  const child = fork(program, [], {
    env: bareEnvironment(),
    execArgv: ['--max-old-space-size=512'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  let answer: { readonly answer?: Answers[K]; readonly error?: string } | undefined;
  child.once('message', (message) => {
    answer = message as typeof answer;
  });
  child.send(task);
  const code = await ended(child, { signal, memory: childMemory });
  if (answer?.answer) return answer.answer;
  throw new Error(`The inspector ended with ${code}: ${answer?.error ?? 'no answer'}`);
}

import { parentPort } from 'node:worker_threads';
import type { Answered, Asked, Methods } from './thread.ts';

/** Results wait for so many milliseconds for those of the next calls. */
const patienceMs = 0.5;

/** Serves functions to the process that started this thread, one call after the other. */
export function serve(methods: Methods): void {
  const port = parentPort;
  if (!port) throw new Error('This module runs in a thread');
  const answer = ({ id, method, values }: Asked): Answered => {
    try {
      return { id, result: methods[method]?.(...(values as never[])) };
    } catch (error) {
      return { id, error: error as Error };
    }
  };
  port.on('message', (calls: readonly Asked[]) => {
    let answers: Answered[] = [];
    let since = performance.now();
    for (const call of calls) {
      answers.push(answer(call));
      if (performance.now() - since < patienceMs) continue;
      port.postMessage(answers);
      answers = [];
      since = performance.now();
    }
    if (answers.length > 0) port.postMessage(answers);
  });
}

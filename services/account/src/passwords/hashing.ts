import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import type { Work } from './hashing-thread.ts';

/** A hash, or whether one is the value's. */
type Result = string | boolean;

/** Each hash takes a core for a while: one is left for everything else. */
export const threadCount = Math.min(8, Math.max(1, availableParallelism() - 1));

const idle: Worker[] = [];
const turns = pLimit(threadCount);

/** Does it on a thread of low priority, as soon as one is free. The threads are the process's, made when first needed. */
export function hashOnThread(work: Work): Promise<Result> {
  return turns(async () => {
    const thread = idle.pop() ?? new Worker(new URL('./hashing-thread.ts', import.meta.url));
    thread.ref();
    thread.postMessage(work);
    const [result] = (await once(thread, 'message')) as [Result]; // Rejects when the thread fails: it is not used again.
    thread.unref();
    idle.push(thread);
    return result;
  });
}

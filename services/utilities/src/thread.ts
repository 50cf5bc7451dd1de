import { Worker } from 'node:worker_threads';
import { Problem } from '@attribution/contracts';

/** Functions that a thread serves. Arguments and results are copied. */
export type Methods = Readonly<Record<string, (...values: never[]) => unknown>>;

/** The functions of a thread, as its process calls them. */
export type Thread<M extends Methods> = {
  readonly [name in keyof M]: (...values: Parameters<M[name]>) => Promise<Awaited<ReturnType<M[name]>>>;
} & { stop(): Promise<void> };

export interface Asked {
  readonly id: number;
  readonly method: string;
  readonly values: readonly unknown[];
}

export interface Answered {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: Error;
}

interface Waiting {
  resolve(result: never): void;
  reject(error: Error): void;
}

/** More than that only wait longer than their clients do. */
const maxWaiting = 1_000;
/** Of objects that were made a moment ago. They are in addition to the heap that a thread is given. */
const youngHeapMb = 8;

/**
 * Calls the functions of a module that runs `serve`, in a thread of its own, because they read or compute for longer than a
 * turn of the event loop may take. The thread is started by the first call, and again by the next one after it has died.
 */
export function openThread<M extends Methods>(
  module: URL,
  methods: readonly (keyof M & string)[],
  heapMb: number,
): Thread<M> {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let calls = 0;
  /** What was called since the last message to the thread. */
  let called: Asked[] = [];

  function start(): Worker {
    const started = new Worker(module, {
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: youngHeapMb },
    });
    started.unref();
    started.on('message', (answers: readonly Answered[]) => {
      for (const { id, result, error } of answers) {
        const one = waiting.get(id);
        waiting.delete(id);
        if (error) one?.reject(error);
        else one?.resolve(result as never);
      }
    });
    const end = (error: Error) => {
      if (worker !== started) return;
      worker = undefined;
      called = [];
      for (const one of waiting.values()) one.reject(error);
      waiting.clear();
    };
    started.on('error', end);
    started.on('exit', () => end(new Error(`The thread ${module.pathname} has ended`)));
    return started;
  }

  function call(method: string, values: readonly unknown[]): Promise<never> {
    if (waiting.size >= maxWaiting)
      throw new Problem('unavailable', 'Too many look-ups are in progress. Try again.', { 'retry-after': '1' });
    const id = ++calls;
    if (called.length === 0) setImmediate(send);
    called.push({ id, method, values });
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
  }

  /** The calls of one turn of the event loop are one message: to wake a thread costs as much as a look-up does. */
  function send(): void {
    if (called.length === 0) return;
    worker ??= start();
    worker.postMessage(called);
    called = [];
  }

  const functions = methods.map((name) => [name, async (...values: unknown[]) => call(name, values)]);
  return { ...Object.fromEntries(functions), stop: async () => void (await worker?.terminate()) } as Thread<M>;
}

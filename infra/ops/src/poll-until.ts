import { setTimeout as sleep } from 'node:timers/promises';

export interface PollOptions<T> {
  readonly read: () => Promise<T>;
  readonly isDone: (value: T) => boolean;
  /** Called with every value, to report progress. */
  readonly onRead: (value: T) => void;
  readonly timeoutMs: number;
  readonly stopping: AbortSignal;
  readonly intervalMs?: number;
}

/** Reads a value repeatedly until it is done, time is up, or the command is stopped. Resolves to the last value. */
export async function pollUntil<T>(options: PollOptions<T>): Promise<T> {
  const { read, isDone, onRead, timeoutMs, stopping, intervalMs = 250 } = options;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    onRead(value);
    if (isDone(value) || stopping.aborted || performance.now() >= deadline) return value;
    await sleep(intervalMs, undefined, { signal: stopping }).catch(() => {});
  }
}

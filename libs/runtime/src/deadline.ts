import pTimeout from 'p-timeout';

/** Waits for the work, but at most until the deadline (ms since the epoch), so that hanging work does not keep a process from stopping. */
export async function withDeadline(deadline: number, work: Promise<unknown> | undefined): Promise<void> {
  const milliseconds = Math.max(1, deadline - Date.now());
  await pTimeout(Promise.resolve(work), { milliseconds, fallback: () => undefined });
}

/** The result of the work; undefined if it fails or takes longer than `ms`. */
export async function attemptWithin<T>(ms: number, work: () => Promise<T> | T): Promise<T | undefined> {
  return pTimeout(Promise.try(work), { milliseconds: ms, fallback: () => undefined }).catch(() => undefined);
}

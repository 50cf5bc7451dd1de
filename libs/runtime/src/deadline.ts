/** Waits for the work, at most until the deadline (ms since the epoch): what hangs must not keep a process from stopping. */
export async function withDeadline(deadline: number, work: Promise<unknown> | undefined): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, Math.max(0, deadline - Date.now()));
  await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

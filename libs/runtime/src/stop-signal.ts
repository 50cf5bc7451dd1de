/**
 * Milliseconds after which a process that stops is ended, not counting the time in which balancers turn away. Services plan
 * to end in three quarters of it, because on a busy machine everything is late.
 */
export const stopTimeoutMs = 15_000;

/** Runs `stop` once at SIGTERM or SIGINT, then exits: 0 when it finished within `ms`. */
export function onStopSignal(stop: () => Promise<void>, ms = stopTimeoutMs): void {
  let stopping = false;
  const once = () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), ms).unref();
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', once);
  process.on('SIGINT', once);
}

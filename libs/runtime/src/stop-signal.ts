/** Runs `stop` once at SIGTERM or SIGINT, then exits: 0 when it finished within `ms`. */
export function onStopSignal(stop: () => Promise<void>, ms = 10_000): void {
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

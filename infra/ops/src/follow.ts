import { setTimeout as sleep } from 'node:timers/promises';

export interface FollowOptions<T> {
  readonly look: () => Promise<T>;
  readonly isDone: (seen: T) => boolean;
  /** Told of what was seen, at every look. */
  readonly tell?: (seen: T) => void;
  /** Milliseconds after which nobody looks any more. */
  readonly patience: number;
  readonly stopping: AbortSignal;
  /** Milliseconds between two looks. */
  readonly every?: number;
}

/** Looks again and again until it is done, or for long enough; resolves with what was seen last. */
export async function follow<T>({ look, isDone, tell, patience, stopping, every = 250 }: FollowOptions<T>): Promise<T> {
  const deadline = performance.now() + patience;
  for (;;) {
    const seen = await look();
    tell?.(seen);
    if (isDone(seen) || stopping.aborted || performance.now() >= deadline) return seen;
    await sleep(every, undefined, { signal: stopping }).catch(() => {});
  }
}

import { setTimeout as sleep } from 'node:timers/promises';

/** Who takes a turn: a caller, who shares a lane with others, such as a credential of an account. */
export interface TurnTaker {
  readonly lane: string;
  readonly caller: string;
}

export interface TurnOptions {
  /** Turns of all lanes at the same time. */
  readonly total: number;
  /** Turns of one lane at the same time. */
  readonly perLane: number;
  /** Turns of one caller at the same time. */
  readonly perCaller: number;
  /** How many may wait in one lane. */
  readonly maxWaiting: number;
  /** Each waits between 0.8 times as long and as long: many that came together are not all refused in one moment. */
  readonly maxWaitMs: number;
  /**
   * How long those are kept who are refused because too many wait: a client that sends again at once would cost more than one
   * who waits. Default: 0.
   */
  readonly refuseAfterMs?: number;
  /**
   * How long a turn is kept after its end while others of its lane wait: `times` as long as it took, and so many milliseconds
   * at least and at most, at least `failedMs` if it failed; and, whether others wait or not, `msPerByte` for each byte that it was
   * ended with. If no other lane is active, only with `alone`. Default: not at all.
   */
  readonly rest?: {
    readonly times: number;
    readonly leastMs: number;
    readonly mostMs: number;
    readonly failedMs?: number;
    readonly alone?: boolean;
    readonly msPerByte?: number;
  };
  /** Called for each who is refused: because the lane is full, or its turn did not come in time. */
  readonly busy: () => Error;
}

/** Ends a turn, in which so many bytes were taken in, and says whether it failed. */
export type EndTurn = (bytes?: number, failed?: boolean) => void;

export interface Turns {
  readonly running: number;
  readonly waiting: number;
  /** The function that ends the turn, if there is one at once. */
  tryTake(taker: TurnTaker): EndTurn | undefined;
  /**
   * Waits for a turn. Resolves with a function that ends the turn; it may be called again. Rejects with `busy()`, or with the
   * signal's reason when that is aborted.
   */
  take(taker: TurnTaker, signal?: AbortSignal): Promise<EndTurn>;
}

interface Waiter {
  readonly caller: string;
  readonly admit: () => void;
}

interface Lane {
  running: number;
  readonly byCaller: Map<string, number>;
  readonly waiting: Waiter[];
}

/** A lane is active for so long after it took a turn. */
const activeMs = 1_000;

/**
 * Lets many share what is scarce: lanes in rotation, whatever the number of those who wait in each, and within a lane the
 * first whose caller may have another turn. A lane that always has more waiting than turns rests, so that it takes a part of
 * the time only.
 */
export function createTurns({
  total,
  perLane,
  perCaller,
  maxWaiting,
  maxWaitMs,
  refuseAfterMs = 0,
  rest,
  busy,
}: TurnOptions): Turns {
  /** In the order of the rotation: a lane goes to the end when it gets a turn and when one ends. */
  const lanes = new Map<string, Lane>();
  let running = 0;
  let waiting = 0;
  /** The lanes that took a turn last, and when. */
  let last: { key?: string; at: number } = { at: Number.NEGATIVE_INFINITY };
  let lastOther = last;

  function noteActive(key: string): void {
    if (last.key !== key) [last, lastOther] = [{ key, at: 0 }, last];
    last.at = performance.now();
  }
  const othersActive = (key: string) => performance.now() - (last.key === key ? lastOther : last).at < activeMs;

  const nextIn = (lane: Lane): number =>
    lane.running < perLane ? lane.waiting.findIndex(({ caller }) => (lane.byCaller.get(caller) ?? 0) < perCaller) : -1;

  function toEnd(key: string, lane: Lane): void {
    lanes.delete(key);
    lanes.set(key, lane);
  }

  function admitOne(): boolean {
    for (const [key, lane] of lanes) {
      const at = nextIn(lane);
      if (at === -1) continue;
      const [waiter] = lane.waiting.splice(at, 1);
      toEnd(key, lane);
      waiting--;
      waiter?.admit();
      return true;
    }
    return false;
  }

  function admit(): void {
    while (waiting > 0 && running < total && admitOne());
  }

  function count(lane: Lane, caller: string, by: 1 | -1): void {
    lane.running += by;
    const left = (lane.byCaller.get(caller) ?? 0) + by;
    if (left > 0) lane.byCaller.set(caller, left);
    else lane.byCaller.delete(caller);
  }

  function forget(key: string, lane: Lane): void {
    if (lane.running === 0 && lane.waiting.length === 0) lanes.delete(key);
  }

  const newLane = (): Lane => ({ running: 0, byCaller: new Map<string, number>(), waiting: [] });

  function restOf(
    key: string,
    lane: Lane,
    tookMs: number,
    { bytes, failed }: { bytes: number; failed: boolean },
  ): number {
    if (!rest || !(rest.alone || othersActive(key))) return 0;
    const forBytes = bytes * (rest.msPerByte ?? 0);
    if (lane.waiting.length === 0) return forBytes;
    const leastMs = failed ? (rest.failedMs ?? rest.leastMs) : rest.leastMs;
    return Math.max(forBytes, Math.min(rest.mostMs, Math.max(leastMs, rest.times * tookMs)));
  }

  /** Ends a turn that was counted. */
  function ending(key: string, lane: Lane, caller: string): EndTurn {
    const began = rest ? performance.now() : 0;
    noteActive(key);
    let ended = false;
    const free = () => {
      count(lane, caller, -1);
      toEnd(key, lane); // Lanes that came during its turn go first.
      forget(key, lane);
      admit();
    };
    return (bytes = 0, failed = false) => {
      if (ended) return;
      ended = true;
      running--;
      const restMs = restOf(key, lane, performance.now() - began, { bytes, failed });
      if (restMs === 0) return free();
      setTimeout(free, restMs).unref();
      admit();
    };
  }

  async function refusal(signal: AbortSignal | undefined): Promise<void> {
    if (refuseAfterMs === 0) return;
    await sleep(refuseAfterMs, undefined, { ref: false, ...(signal && { signal }) }).catch(() => {});
    signal?.throwIfAborted();
  }

  /** Whoever waits may not have a turn now, so nobody is overtaken. */
  function tryTake({ lane: key, caller }: TurnTaker): EndTurn | undefined {
    const lane = lanes.get(key) ?? newLane();
    const free = running < total && lane.running < perLane && (lane.byCaller.get(caller) ?? 0) < perCaller;
    if (!free) return undefined;
    running++;
    count(lane, caller, 1);
    toEnd(key, lane);
    return ending(key, lane, caller);
  }

  return {
    tryTake,
    get running() {
      return running;
    },
    get waiting() {
      return waiting;
    },
    async take(taker, signal) {
      signal?.throwIfAborted();
      const free = tryTake(taker);
      if (free) return free;
      const { lane: key, caller } = taker;
      const lane = lanes.get(key) ?? newLane();
      if (lane.waiting.length >= maxWaiting) {
        await refusal(signal);
        throw busy();
      }
      lanes.set(key, lane);
      const turn = Promise.withResolvers<void>();
      const waiter: Waiter = {
        caller,
        admit() {
          running++;
          count(lane, caller, 1);
          turn.resolve();
        },
      };
      function leave(error: unknown): void {
        const at = lane.waiting.indexOf(waiter);
        if (at === -1) return; // Its turn came at the same moment.
        lane.waiting.splice(at, 1);
        waiting--;
        forget(key, lane);
        turn.reject(error as Error);
      }
      const onAbort = () => leave(signal?.reason);
      lane.waiting.push(waiter);
      waiting++;
      const timer = setTimeout(() => leave(busy()), maxWaitMs * (0.8 + 0.2 * Math.random()));
      signal?.addEventListener('abort', onAbort);
      try {
        await turn.promise;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      }
      return ending(key, lane, caller);
    },
  };
}

import { createParties, type Party } from './parties.ts';

/** Tasks of one party that run at the same time. Those beyond them hold a place only while nobody else needs it. */
export const partyShare = 2;
/** Tasks that may wait, however quick they are. */
const maxWaiting = 1_000;

/** Runs slow work, so that nobody takes what others need (decision 43). */
export interface FairQueue {
  /**
   * Runs the work when it is the turn of the parties it is done for. Rejects with `tooBusy()` when it has to give up its
   * place to others, or finds no place.
   */
  run<T>(parties: readonly string[], work: () => Promise<T>): Promise<T>;
  readonly waiting: number;
}

interface Task {
  readonly parties: readonly Party[];
  /** Later tasks have higher numbers. */
  readonly number: number;
  start(): void;
  refuse(): void;
}

/**
 * Of the waiting tasks the next one is that whose parties have gone without a turn for the longest time. When the waiting
 * tasks would take longer than `maxWaitMs`, one is refused: of a party that has more than its share there, else of the
 * party that was served most lately, and of its tasks the newest. No task waits for longer than twice that time and
 * a second.
 */
export function createFairQueue(options: { threads: number; maxWaitMs: number; tooBusy: () => Error }): FairQueue {
  const { threads, maxWaitMs, tooBusy } = options;
  const parties = createParties();
  const waiting: Task[] = [];
  let running = 0;
  let tasks = 0;
  /** The recent duration of a task. */
  let recentMs = 0;

  /** However many come that are served before it. */
  const longestWaitMs = 2 * maxWaitMs + 1_000;

  const isFull = () => waiting.length > maxWaiting || (waiting.length - 1) * recentMs > maxWaitMs * threads;

  function take(task: Task): Task {
    waiting.splice(waiting.indexOf(task), 1);
    return task;
  }

  function startNext(): void {
    while (running < threads) {
      const startable = waiting.filter((task) => task.parties.every((party) => party.running < partyShare));
      if (startable.length === 0) return;
      take(startable.reduce((best, task) => (servedBefore(task, best) ? task : best))).start();
    }
  }

  async function carryOut<T>(own: readonly Party[], work: () => Promise<T>): Promise<T> {
    running++;
    for (const party of own) parties.begin(party);
    const began = performance.now();
    try {
      return await work();
    } finally {
      const took = performance.now() - began;
      recentMs = recentMs === 0 ? took : recentMs + (took - recentMs) / 5;
      running--;
      for (const party of own) parties.end(party, took);
      startNext();
    }
  }

  return {
    run(names, work) {
      const own = parties.enter(names);
      return new Promise((resolve, reject) => {
        const task: Task = {
          parties: own,
          number: tasks++,
          start() {
            clearTimeout(timer);
            carryOut(own, work).then(resolve, reject);
          },
          refuse() {
            clearTimeout(timer);
            for (const party of own) parties.leave(party);
            reject(tooBusy());
          },
        };
        const timer = setTimeout(() => take(task).refuse(), longestWaitMs);
        waiting.push(task);
        startNext();
        if (isFull()) take(waiting.reduce((worst, task) => (refusedBefore(task, worst) ? task : worst))).refuse();
      });
    },
    get waiting() {
      return waiting.length;
    },
  };
}

const lastTurn = (party: Party) => party.lastTurn;
const excess = (party: Party) => Math.max(0, party.present - partyShare);
const served = (party: Party) => party.served();

function servedBefore(a: Task, b: Task): boolean {
  return (compare(a, b, lastTurn) || a.number - b.number) < 0;
}

function refusedBefore(a: Task, b: Task): boolean {
  return (compare(a, b, excess) || compare(a, b, served) || compare(a, b, lastTurn) || a.number - b.number) > 0;
}

/**
 * Compares two tasks by what is greatest among their parties, and if that is equal by what is next: of two tasks about one
 * account the one whose client was not seen before differs from the one whose client keeps asking.
 */
function compare(a: Task, b: Task, measure: (party: Party) => number): number {
  const [ofA, ofB] = [a, b].map((task) => task.parties.map(measure).sort((x, y) => y - x)) as [number[], number[]];
  for (let i = 0; i < Math.max(ofA.length, ofB.length); i++) {
    const difference = (ofA[i] ?? 0) - (ofB[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

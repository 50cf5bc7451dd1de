import { setTimeout as sleep } from 'node:timers/promises';

export interface Hints {
  /** Hints that there may be work for the job of this name. Never throws, and does not wait. */
  give(name: string): void;
  /** Resolves when the last hints were sent. */
  stop(): Promise<void>;
}

/**
 * Sends hints: the first of a name immediately, then one every `pauseMs` for all that were given meanwhile, so that under
 * load their number does not grow with the work. A hint that fails is lost: jobs and the relay also poll.
 */
export function createHints(send: (name: string) => Promise<void>, pauseMs = 50): Hints {
  const turns = new Map<string, { given: boolean; done?: Promise<void> }>();

  async function sendWhileGiven(name: string, turn: { given: boolean }): Promise<void> {
    while (turn.given) {
      turn.given = false;
      await send(name).catch(() => {});
      await sleep(pauseMs, undefined, { ref: false });
    }
    turns.delete(name);
  }

  return {
    give(name) {
      const current = turns.get(name);
      if (current) {
        current.given = true;
        return;
      }
      const turn: { given: boolean; done?: Promise<void> } = { given: true };
      turns.set(name, turn);
      turn.done = sendWhileGiven(name, turn);
    },
    async stop() {
      await Promise.all([...turns.values()].map(({ done }) => done));
    },
  };
}

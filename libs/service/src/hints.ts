import { setTimeout as sleep } from 'node:timers/promises';

export interface Hints {
  /** There may be something to do for whoever has this name. Never throws, and waits for nothing. */
  give(name: string): void;
  /** Resolves when the last ones are on their way. */
  stop(): Promise<void>;
}

/**
 * Passes hints on, the first of a name at once, and then one in `pause` milliseconds for all that were given meanwhile:
 * under load their number does not grow with the work. One that fails is lost, as whoever it is for also looks for himself.
 */
export function createHints(send: (name: string) => Promise<void>, pause = 50): Hints {
  const turns = new Map<string, { asked: boolean; done?: Promise<void> }>();

  async function pass(name: string, turn: { asked: boolean }): Promise<void> {
    while (turn.asked) {
      turn.asked = false;
      await send(name).catch(() => {});
      await sleep(pause, undefined, { ref: false });
    }
    turns.delete(name);
  }

  return {
    give(name) {
      const current = turns.get(name);
      if (current) {
        current.asked = true;
        return;
      }
      const turn: { asked: boolean; done?: Promise<void> } = { asked: true };
      turns.set(name, turn);
      turn.done = pass(name, turn);
    },
    async stop() {
      await Promise.all([...turns.values()].map(({ done }) => done));
    },
  };
}

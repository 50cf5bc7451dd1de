import { createHash } from 'node:crypto';
import { chanceFrom } from '@attribution/testing';
import type { Ledger } from './ledger.ts';
import type { MailFolder } from './mail-folder.ts';
import { simulatePerson } from './person.ts';

export interface Load {
  /** Starts no new requests; resolves when those in progress have ended. */
  stop(): Promise<void>;
}

/** Simulates people, `concurrency` of them at a time. The seed determines what each of them does. */
export function startLoad(options: {
  readonly baseUrl: string;
  readonly mail: MailFolder;
  readonly ledger: Ledger;
  readonly seed: number;
  readonly concurrency: number;
  /** The number of the first person: no number may be used twice on a platform. Default: 0. */
  readonly firstNumber?: number;
  /** The longest pause between two requests of a person's writer. Default: 15, which keeps two cores busy. */
  readonly maxPauseMs?: number;
}): Load {
  const { seed, concurrency, firstNumber = 0, maxPauseMs = 15, ...shared } = options;
  let running = true;
  const isRunning = () => running;
  async function lane(first: number): Promise<void> {
    for (let number = first; running; number += concurrency) {
      const own = createHash('sha256').update(`${seed} person ${number}`).digest().readInt32BE();
      await simulatePerson({ ...shared, maxPauseMs, number, chance: chanceFrom(own), isRunning });
    }
  }
  const lanes = Array.from({ length: concurrency }, (_, first) => lane(firstNumber + first));
  return {
    async stop() {
      running = false;
      await Promise.all(lanes);
    },
  };
}

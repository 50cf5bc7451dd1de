import { createHash } from 'node:crypto';
import { chanceFrom } from '../../random.ts';
import type { Ledger } from './ledger.ts';
import type { MailFolder } from './mail-folder.ts';
import { livePerson } from './person.ts';

export interface Load {
  /** No new requests; resolves when those in hand are answered or lost. */
  stop(): Promise<void>;
}

/** People who come one after the other, `width` at a time. What each of them does follows from the seed. */
export function startLoad(options: {
  readonly baseUrl: string;
  readonly mail: MailFolder;
  readonly ledger: Ledger;
  readonly seed: number;
  readonly width: number;
  /** The number of the first of them, where others came before. */
  readonly from?: number;
}): Load {
  const { seed, width, from = 0, ...shared } = options;
  let running = true;
  const goesOn = () => running;
  async function lane(first: number): Promise<void> {
    for (let number = first; running; number += width) {
      const own = createHash('sha256').update(`${seed} person ${number}`).digest().readInt32BE();
      await livePerson({ ...shared, number, chance: chanceFrom(own), goesOn });
    }
  }
  const lanes = Array.from({ length: width }, (_, first) => lane(from + first));
  return {
    async stop() {
      running = false;
      await Promise.all(lanes);
    },
  };
}

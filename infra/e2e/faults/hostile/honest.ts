import type { Owner } from '../outages/owner.ts';
import type { Honest, People, Person, Rates } from './clients.ts';
import { type HonestPriority, startCompanion } from './process.ts';

/** What the process of the honest ones is told, as JSON in HONEST. */
export interface HonestOrder {
  readonly url: string;
  readonly people: People;
  readonly rates: Rates;
}

/** Measure a period, or go on as these two: see `HonestClients`. */
export type HonestRequest = 'take' | readonly [Person, Person];

export interface HonestProcess {
  /** Measures what was begun since the start or the last call, and waits until it is over. */
  take(): Promise<Honest>;
  /** The reader and the one with the files sign in again: a token is valid for 15 minutes. */
  renew(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the honest ones in a process of their own. What they measure would otherwise have in it how long they themselves wait for a
 * processor.
 */
export async function startHonestProcess(
  url: string,
  people: readonly [Owner, Owner, ...Owner[]],
  rates: Rates,
  priority: HonestPriority,
): Promise<HonestProcess> {
  let [reader, filer] = people;
  const order: HonestOrder = { url, people, rates };
  const environment = { HONEST: JSON.stringify(order) };
  const companion = await startCompanion({ program: 'honest.process.ts', priority, environment });
  await companion.answer();
  const send = (request: HonestRequest) => companion.send(request);
  return {
    async take() {
      const taken = companion.answer();
      send('take');
      return (await taken) as Honest;
    },
    async renew() {
      [reader, filer] = await Promise.all([renewed(reader), renewed(filer)]);
      send([personOf(reader), personOf(filer)]);
    },
    stop: () => companion.end(),
  };
}

/** Without its functions, which no message can have. */
const personOf = ({ email, password, token, ip }: Owner): Person => ({ email, password, token, ip });

/** Signs in again. Who is told to come again has the token of before, which is still good. */
export const renewed = (one: Owner): Promise<Owner> => one.renew().catch(() => one);

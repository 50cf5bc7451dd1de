import { setTimeout as sleep } from 'node:timers/promises';
import { difference, type Trial } from '../trial.ts';
import { sum } from './act.ts';

/** Milliseconds that somebody may take to meet a fault: on a busy machine few requests are made. */
const patience = 60_000;

/** Resolves when a fault has lasted so long, and somebody was refused by it with such a status, or nobody was for a minute. */
export async function untilFelt({ ledger }: Trial, ms: number, status: RegExp): Promise<void> {
  const before = new Map(ledger.failures);
  await sleep(ms);
  const felt = () => sum(difference(ledger.failures, before), (failure) => status.test(failure)) > 0;
  for (const deadline = performance.now() + patience; !felt() && performance.now() < deadline; ) await sleep(100);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { difference, type Trial } from '../trial.ts';
import { sum } from './act.ts';

/** How long it may take until a request meets a fault: on a busy machine there are few requests. */
const timeoutMs = 60_000;

/** Resolves when a fault has lasted for `ms` and a request has failed with such a status, or none has within a further minute. */
export async function untilNoticed({ ledger }: Trial, ms: number, status: RegExp): Promise<void> {
  const before = new Map(ledger.failures);
  await sleep(ms);
  const noticed = () => sum(difference(ledger.failures, before), (failure) => status.test(failure)) > 0;
  for (const deadline = performance.now() + timeoutMs; !noticed() && performance.now() < deadline; ) await sleep(100);
}

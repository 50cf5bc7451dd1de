import { Problem } from '@attribution/contracts';
import { networkOf } from '@attribution/http';
import { createTurns } from '@attribution/runtime';
import type { Implementation } from '@attribution/service';
import { emailKeyOf } from '../codes/index.ts';

/** Requests about one address at once, of all clients; and those that may wait, as long as a person does. */
const shares = { perLane: 4, perCaller: 4, maxWaiting: 256, maxWaitMs: 10_000 };
/** While many ask about one address, they get a part of the time only, and what is refused takes hardly any. */
const rest = { times: 3, leastMs: 25, failedMs: 60, mostMs: 250 };

const busy = () =>
  new Problem('unavailable', 'Too many requests about this address. Try again.', { 'retry-after': '5' });

/**
 * Lets requests about one e-mail address take turns, known or unknown, whoever sends them: a client that has a new address
 * for each of its guesses at somebody is many clients to every other limit.
 */
export function inAddressTurns(implementations: readonly Implementation[]): Implementation[] {
  const turns = createTurns({ ...shares, rest, total: Number.POSITIVE_INFINITY, busy });
  return implementations.map((one) => ({
    ...one,
    async handle(input, around) {
      const { body, request } = input as unknown as { body: { email: string }; request: { ip: string } };
      const end = await turns.take({ lane: emailKeyOf(body.email), caller: networkOf(request.ip) });
      let failed = true;
      try {
        const answer = await one.handle(input, around);
        failed = false;
        return answer;
      } finally {
        end(0, failed);
      }
    },
  }));
}

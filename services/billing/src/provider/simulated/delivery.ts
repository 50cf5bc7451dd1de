import type { Clock } from '@attribution/runtime';
import type { ServiceDependencies } from '@attribution/service';
import { signWebhook } from '../signature.ts';
import type { KeptEvent, SimulatedStore } from './store.ts';

export interface WebhookTarget {
  readonly url: string;
  /** Normally only the first secret signs. During a rotation every notification is signed with each secret. */
  readonly secrets: readonly string[];
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
/**
 * The delay after each failed attempt. After the last one the notification is given up: three days in all, as at
 * Stripe.
 */
const pauses = [second, 5 * second, 30 * second, 5 * minute, hour, 3 * hour, 6 * hour, 12 * hour, 24 * hour, 24 * hour];
const timeoutMs = 5 * second;

/**
 * Delivers due notifications, oldest first. A notification that was not accepted is sent again after a growing delay;
 * the delays are stored, so they survive a restart.
 */
export function createDelivery(deps: {
  readonly store: SimulatedStore;
  readonly target: WebhookTarget | undefined;
  readonly clock: Clock;
  /** The share of notifications to lose, from 0 to 1: half on the way, half by losing the response. */
  readonly failures: number;
  readonly logger: ServiceDependencies['logger'];
}) {
  const { store, target, clock, failures, logger } = deps;
  const stopping = new AbortController();

  async function send({ body }: KeptEvent, { url, secrets }: WebhookTarget): Promise<string | undefined> {
    const signature = signWebhook(body, secrets, Math.floor(clock.now().getTime() / 1000));
    const lost = Math.random() < failures;
    if (lost && Math.random() < 0.5) return 'was lost';
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8', 'stripe-signature': signature },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(timeoutMs)]),
      });
      await answer.body?.cancel();
      if (lost) return 'had its answer lost';
      return answer.ok ? undefined : `answered ${answer.status}`;
    } catch (error) {
      return error instanceof Error ? error.name : 'failed';
    }
  }

  async function deliverDue(): Promise<void> {
    if (!target) return;
    const now = clock.now().getTime();
    for (;;) {
      const event = stopping.signal.aborted ? undefined : store.undelivered(now);
      if (!event) return;
      const failure = await send(event, target);
      // The attempt was not recorded, so the notification may be sent again at the next start.
      if (stopping.signal.aborted) return;
      const pause = failure === undefined ? undefined : pauses[event.attempts];
      store.afterDelivery(event.sequence, pause === undefined ? null : clock.now().getTime() + pause);
      if (failure === undefined) continue;
      const record = { sequence: event.sequence, attempt: event.attempts + 1, failure };
      logger.warn(record, pause === undefined ? 'A notification is given up' : 'A notification was not accepted');
    }
  }

  return { deliverDue, stop: () => stopping.abort() };
}

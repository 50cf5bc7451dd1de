import type { RefundDestination } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import type { z } from 'zod';

interface Paid {
  readonly amount_cents: number;
  /** Including the amount that was paid from credit. */
  readonly total_cents: number;
  readonly token_amount: number;
}

/** What of a payment was given back before, in cents; `credited` of it as store credit. */
export interface Returned {
  readonly all: number;
  readonly credited: number;
}

/** How much can still be given back, in cents. What was paid from store credit goes back as store credit alone. */
export function refundable(
  { amount_cents, total_cents }: Pick<Paid, 'amount_cents' | 'total_cents'>,
  { all, credited }: Returned,
  destination: z.output<typeof RefundDestination>,
): number {
  const left = total_cents - all;
  return destination === 'store_credit' ? left : Math.min(left, amount_cents - (all - credited));
}

/**
 * The number of tokens to take back for a partial refund, rounded up so that refunding the rest takes back the rest.
 * `before` is the amount that was refunded earlier, in cents.
 */
export function tokensBack(
  { total_cents, token_amount }: Pick<Paid, 'total_cents' | 'token_amount'>,
  before: number,
  cents: number,
): number {
  // Somebody may give back more at the provider than was left beside what was given back as store credit.
  const upTo = (part: number) =>
    ceilDiv(BigInt(token_amount) * BigInt(Math.min(part, total_cents)), BigInt(total_cents));
  return Number(upTo(before + cents) - upTo(before));
}

/** How long the provider remembers an idempotency key, at least; in milliseconds. */
const keyLifetimeMs = 24 * 3_600_000;

/** Whether the provider may have forgotten the key of a refund, so that it would make it twice. */
export const mayBeForgotten = ({ created_at }: { readonly created_at: Date }, clock: Clock) =>
  clock.now().getTime() - created_at.getTime() > keyLifetimeMs / 2;

const ceilDiv = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor;

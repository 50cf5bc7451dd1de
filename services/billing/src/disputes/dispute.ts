interface Paid {
  /** What was charged. */
  readonly amount_cents: number;
  /** Including the amount that was paid from credit. */
  readonly total_cents: number;
  readonly token_amount: number;
}

/**
 * The part of a payment that is disputed, and the tokens that it bought, rounded up. It does not depend on refunds, so that
 * a dispute and a refund are stored alike whichever is heard of first; Account takes nothing back twice.
 */
export function disputedShare({ amount_cents, total_cents, token_amount }: Paid, disputedCents: number) {
  const cents = Math.min(disputedCents, amount_cents);
  const tokens = BigInt(token_amount) * BigInt(cents);
  const total = BigInt(total_cents);
  return { amount_cents: cents, token_amount: Number((tokens + total - 1n) / total) };
}

interface Paid {
  /** Including the amount that was paid from credit. */
  readonly total_cents: number;
  readonly token_amount: number;
}

/**
 * The number of tokens to take back for a partial refund, rounded up so that refunding the rest takes back the rest.
 * `before` is the amount that was refunded earlier, in cents.
 */
export function tokensBack({ total_cents, token_amount }: Paid, before: number, cents: number): number {
  const upTo = (part: number) => ceilDiv(BigInt(token_amount) * BigInt(part), BigInt(total_cents));
  return Number(upTo(before + cents) - upTo(before));
}

const ceilDiv = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor;

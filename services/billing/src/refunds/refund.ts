interface Paid {
  /** With what credit paid. */
  readonly total_cents: number;
  readonly token_amount: number;
}

/**
 * The tokens that go back with a part of what was paid, rounded up: once all of it has gone back, all of them have. `before`: cents
 * that were given back earlier.
 */
export function tokensBack({ total_cents, token_amount }: Paid, before: number, cents: number): number {
  const upTo = (part: number) => ceilDiv(BigInt(token_amount) * BigInt(part), BigInt(total_cents));
  return Number(upTo(before + cents) - upTo(before));
}

const ceilDiv = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor;

interface Paid {
  readonly amount_cents: number;
  readonly token_amount: number;
}

/**
 * The tokens that go back with a part of a payment, rounded up: after the last part, all of them have. `before`: cents
 * that were given back earlier.
 */
export function tokensBack({ amount_cents, token_amount }: Paid, before: number, cents: number): number {
  const upTo = (part: number) => ceilDiv(BigInt(token_amount) * BigInt(part), BigInt(amount_cents));
  return Number(upTo(before + cents) - upTo(before));
}

const ceilDiv = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor;

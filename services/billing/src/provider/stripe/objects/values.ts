/** Stripe adds values to its enumerations at any time: one that is not known is taken as `otherwise`. */
export function oneOf<T extends string>(value: string | null | undefined, known: readonly T[], otherwise: T): T {
  return known.find((one) => one === value) ?? otherwise;
}

/** Of seconds since 1970. */
export const dateOf = (seconds: number): Date => new Date(seconds * 1000);

/** What we wrote on something; '' on what somebody else made in the same Stripe account. */
export function noteOf(key: 'account_id' | 'reference' | 'plan_key', ...metadata: Metadata[]): string {
  return metadata.map((one) => one?.[key]).find((value) => value) ?? '';
}

type Metadata = Readonly<Record<string, string>> | null | undefined;

/** Of an expanded customer: who pays, where nothing nearer says it. */
export function customerNotes(customer: unknown): Metadata {
  return typeof customer === 'object' && customer !== null && 'metadata' in customer
    ? (customer.metadata as Metadata)
    : undefined;
}

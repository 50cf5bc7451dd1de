/** Stripe may add values to its enumerations at any time. An unknown value becomes `otherwise`. */
export function oneOf<T extends string>(value: string | null | undefined, known: readonly T[], otherwise: T): T {
  return known.find((one) => one === value) ?? otherwise;
}

/** From seconds since the epoch. */
export const dateOf = (seconds: number): Date => new Date(seconds * 1000);

/** A value from our metadata; '' for an object that was created by others in the same Stripe account. */
export function noteOf(key: 'account_id' | 'reference' | 'plan_key', ...metadata: Metadata[]): string {
  return metadata.map((one) => one?.[key]).find((value) => value) ?? '';
}

type Metadata = Readonly<Record<string, string>> | null | undefined;

/** The metadata of an expanded customer, for objects that have none of their own. */
export function customerNotes(customer: unknown): Metadata {
  return typeof customer === 'object' && customer !== null && 'metadata' in customer
    ? (customer.metadata as Metadata)
    : undefined;
}

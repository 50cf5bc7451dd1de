import { ProviderError } from '../payment-provider.ts';

/** Validates an id for use in a path: an empty id would address the list, and one with a slash a different object. */
export function pathId(id: string): string {
  if (/^\w{1,255}$/.test(id)) return id;
  throw new ProviderError('not_found', 'Stripe has no such id');
}

/** Stripe gives a reference as an id, or as the object if it was expanded. */
export function idOf(reference: string | { readonly id: string } | null | undefined): string | null {
  return typeof reference === 'string' ? reference : (reference?.id ?? null);
}

import { ProviderError } from '../payment-provider.ts';

/** An id for a path: an empty one would name the list, one with a slash another thing. */
export function pathId(id: string): string {
  if (/^\w{1,255}$/.test(id)) return id;
  throw new ProviderError('not_found', 'Stripe has no such id');
}

/** Of what is an id, or the object where it was expanded. */
export function idOf(reference: string | { readonly id: string } | null | undefined): string | null {
  return typeof reference === 'string' ? reference : (reference?.id ?? null);
}

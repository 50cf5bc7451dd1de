import { getCheckoutSession, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { BillingDatabase } from '../store.ts';
import { findCheckout } from './checkout.store.ts';

export const getCheckoutSessionEndpoint = ({ sql }: BillingDatabase) =>
  implement(getCheckoutSession, async ({ params, caller }) => {
    const checkout = await findCheckout(sql, caller.accountId, params.id);
    if (!checkout) throw Problem.notFound();
    return { id: checkout.id, status: checkout.status };
  });

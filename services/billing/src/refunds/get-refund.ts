import { getRefund, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { BillingDatabase } from '../store.ts';
import { findRefund } from './refund.store.ts';
import { viewRefund } from './refund.view.ts';

export const getRefundEndpoint = ({ sql }: BillingDatabase) =>
  implement(getRefund, async ({ params, caller }) => {
    const refund = await findRefund(sql, params.id);
    if (refund?.account_id !== caller.accountId) throw Problem.notFound();
    return viewRefund(refund);
  });

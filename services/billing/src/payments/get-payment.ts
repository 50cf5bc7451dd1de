import { getPayment, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { BillingDatabase } from '../store.ts';
import { findPayment } from './payment.store.ts';
import { viewPayment } from './payment.view.ts';

export const getPaymentEndpoint = (database: BillingDatabase) =>
  implement(getPayment, async ({ params, caller }) => {
    const payment = await findPayment(database, caller.accountId, params.id);
    if (!payment) throw Problem.notFound();
    return viewPayment(payment);
  });

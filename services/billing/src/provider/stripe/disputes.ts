import type Stripe from 'stripe';
import type { ProviderDispute, ProviderFraudWarning } from '../payment-provider.ts';
import { pathId } from './ids.ts';
import { disputeOf, fraudWarningOf } from './objects/dispute.ts';

export async function getDispute(stripe: Stripe, id: string): Promise<ProviderDispute> {
  return disputeOf(await stripe.disputes.retrieve(pathId(id)));
}

export async function getFraudWarning(stripe: Stripe, id: string): Promise<ProviderFraudWarning> {
  return fraudWarningOf(await stripe.radar.earlyFraudWarnings.retrieve(pathId(id)));
}

import { createCheckoutSession, type NewCheckoutSession, Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { z } from 'zod';
import { isClosed } from '../closing/index.ts';
import { providerCustomer } from '../customers/index.ts';
import { activePrice, type PlanPriceRow } from '../prices/index.ts';
import { type PaymentProvider, providerProblem } from '../provider/index.ts';
import type { BillingDatabase, Refresh } from '../store.ts';
import { type CheckoutRow, putCheckout, setCheckout } from './checkout.store.ts';
import { keepOnePage, requireNoSubscription } from './one-page.ts';

interface Dependencies {
  readonly database: BillingDatabase;
  readonly provider: PaymentProvider;
  readonly refresh: Refresh;
  readonly clock: Clock;
  readonly appUrl: string;
  /** Origins that a page to pay on may lead back to. */
  readonly returnOrigins: readonly string[];
}

export const createCheckoutSessionEndpoint = (deps: Dependencies) =>
  implement(createCheckoutSession, async ({ body, caller, attempt }) => {
    const { database, clock } = deps;
    requireOwnOrigin(body, deps.returnOrigins);
    const price = await activePrice(database, body.plan_key);
    requireMode(body, price);
    if (await isClosed(database.sql, caller.accountId)) throw new Problem('conflict', 'The account is closed.');
    if (body.mode === 'subscription') await requireNoSubscription(deps, caller.accountId);
    const customerId = await providerCustomer(deps, caller.accountId).catch((error: unknown) => {
      throw providerProblem(error);
    });
    const checkout = await putCheckout(database, {
      id: `cs_${attempt}`,
      account_id: caller.accountId,
      mode: body.mode,
      plan_key: body.plan_key,
      return_url: body.return_url ?? null,
      created_by: caller.id,
      created_at: clock.now(),
    });
    const url = checkout.url ?? (await open(deps, checkout, customerId, price));
    if (body.mode === 'subscription')
      await keepOnePage(deps, checkout).catch((error: unknown) => {
        throw providerProblem(error);
      });
    return { id: checkout.id, url };
  });

/** Creates the page at the provider. */
async function open(
  { database, provider, appUrl }: Dependencies,
  { id, account_id: accountId, mode, return_url }: CheckoutRow,
  customerId: string,
  price: PlanPriceRow,
): Promise<string> {
  const requested = { customerId, mode, price, returnUrl: return_url ?? appUrl, reference: id, accountId };
  const made = await provider.createCheckout(requested, id).catch((error: unknown) => {
    throw providerProblem(error);
  });
  if (made.url === null) throw new Problem('conflict', `Checkout ${id} is ${made.status} already.`);
  await setCheckout(database.sql, id, { providerId: made.id, url: made.url, status: made.status });
  return made.url;
}

/** Otherwise a link to a real page to pay on could lead the person to somebody else's page. */
function requireOwnOrigin({ return_url }: z.output<typeof NewCheckoutSession>, origins: readonly string[]): void {
  if (return_url === undefined || origins.includes(new URL(return_url).origin)) return;
  const allowed = origins.map((origin) => `${origin}/`).join(', ');
  throw new Problem('validation-error', `body.return_url: must begin with ${allowed}.`);
}

function requireMode({ mode, plan_key }: z.output<typeof NewCheckoutSession>, { interval }: PlanPriceRow): void {
  const right = interval === null ? 'payment' : 'subscription';
  if (mode === right) return;
  const what = interval === null ? 'a token pack' : 'a plan';
  throw new Problem('validation-error', `body.mode: ${JSON.stringify(plan_key)} is ${what}, whose mode is ${right}.`);
}

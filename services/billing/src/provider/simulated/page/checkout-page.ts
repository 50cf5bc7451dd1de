import { answerBank, payCheckout } from '../checkouts.ts';
import type { CheckoutSession } from '../objects.ts';
import type { Simulation } from '../simulation.ts';
import type { Links } from '../views.ts';
import { actOn } from './act.ts';
import { bankQuestion, type CardFormState, cardForm } from './card-form.ts';
import { type Html, html } from './html.ts';
import { notice, type Page, type PageOf } from './layout.ts';
import { moneyText } from './money.ts';
import { returnTo, usableUrl } from './return-url.ts';

/** The page on which a checkout is paid. */
export const checkoutPage =
  (simulation: Simulation, links: Links): PageOf =>
  (id, form) => {
    const session = simulation.store.find('checkout.session', id);
    if (!session) return undefined;
    if (!form) return show(simulation, session, 200, {});
    if (form.get('action') === 'close') return close(session);
    const actions = {
      use: payCheckout.bind(undefined, simulation, id),
      answer: answerBank.bind(undefined, simulation, id),
    };
    const acted = actOn(form, actions, simulation.clock.now());
    const after = simulation.store.get('checkout.session', id);
    if (!('done' in acted)) return show(simulation, after, acted.status, acted.state);
    const back = usableUrl(after.success_url);
    const paid = after.status === 'complete' && back;
    return { redirect: paid ? returnTo(back, after.client_reference_id, 'paid') : links.checkout(id) };
  };

/** Leaves the page without paying. The checkout stays open, so that the customer may come back and pay. */
function close(session: CheckoutSession) {
  const back = usableUrl(session.success_url);
  if (session.status === 'complete') return settled(session);
  if (back) return { redirect: returnTo(back, session.client_reference_id, 'cancelled') };
  return notice(200, 'Not paid', 'Nothing was paid. You may close this page.');
}

function show(simulation: Simulation, session: CheckoutSession, status: number, state: CardFormState): Page {
  const expired = session.status === 'expired' || simulation.now() >= session.expires_at;
  if (session.status !== 'complete' && expired)
    return notice(410, 'Too late', 'This checkout has expired. Nothing was paid; go back and begin again.');
  if (session.status === 'complete') return settled(session);
  const { price, amount, interval, due } = bill(simulation, session);
  const content = html`
<h1>${price}</h1>
<p class="amount">${amount}${interval && html` <small>a ${interval}</small>`}</p>
${due !== amount && html`<p class="quiet">${due} due now, after your credit.</p>`}
${session.pending_method === null ? cardForm(`Pay ${due}`, 'Close', state) : bankQuestion()}`;
  return { status, title: `Pay for ${price}`, content, leadsTo: usableUrl(session.success_url)?.origin };
}

function settled(session: CheckoutSession): Page {
  const back = usableUrl(session.success_url);
  const link: Html | undefined =
    back && html`<a class="button main" href="${returnTo(back, session.client_reference_id, 'paid')}">Go on</a>`;
  if (session.payment_status === 'unpaid')
    return notice(200, 'On its way', 'It is complete once the money is there. You may close this page.', link);
  return notice(200, 'Paid', 'It is paid. You may close this page.', link);
}

function bill({ store }: Simulation, session: CheckoutSession) {
  const { nickname, unit_amount, currency, recurring } = store.get('price', session.price);
  const credit = session.mode === 'subscription' ? Math.max(0, -store.get('customer', session.customer).balance) : 0;
  return {
    price: nickname,
    amount: moneyText(unit_amount, currency),
    interval: recurring?.interval,
    due: moneyText(Math.max(0, unit_amount - credit), currency),
  };
}

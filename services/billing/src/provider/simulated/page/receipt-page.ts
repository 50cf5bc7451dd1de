import type { Simulation } from '../simulation.ts';
import { html } from './html.ts';
import type { PageOf } from './layout.ts';
import { moneyText } from './money.ts';

export const receiptPage =
  ({ store }: Simulation): PageOf =>
  (id) => {
    const payment = store.find('payment_intent', id);
    if (payment?.status !== 'succeeded') return undefined;
    const { amount, amount_refunded, currency, created, payment_method } = payment;
    const card = payment_method === null ? undefined : store.get('payment_method', payment_method).card;
    const content = html`
<h1>Receipt</h1>
<p class="amount">${moneyText(amount, currency)}</p>
<dl>
<dt>Paid</dt><dd>${new Date(created * 1000).toISOString().slice(0, 10)}</dd>
${card && html`<dt>Card</dt><dd>${card.brand} ending in ${card.last4}</dd>`}
${amount_refunded > 0 && html`<dt>Given back</dt><dd>${moneyText(amount_refunded, currency)}</dd>`}
<dt>Payment</dt><dd>${payment.id}</dd>
</dl>`;
    return { status: 200, title: 'Receipt', content };
  };

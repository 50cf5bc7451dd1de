import { ProviderError } from '../../payment-provider.ts';
import { closeDispute, disputeOn, openDispute, warnOfFraud } from '../disputes.ts';
import type { Dispute } from '../objects.ts';
import type { Simulation } from '../simulation.ts';
import { type Html, html } from './html.ts';
import type { PageOf } from './layout.ts';
import { moneyText } from './money.ts';

export const receiptPage =
  (simulation: Simulation): PageOf =>
  (id, form) => {
    const { store } = simulation;
    if (form && store.find('payment_intent', id)) act(simulation, id, form.get('action') ?? '');
    const payment = store.find('payment_intent', id);
    if (payment?.status !== 'succeeded') return undefined;
    const { amount, amount_refunded, currency, created, payment_method } = payment;
    const card = payment_method === null ? undefined : store.get('payment_method', payment_method).card;
    const dispute = disputeOn(simulation, id);
    const content = html`
<h1>Receipt</h1>
<p class="amount">${moneyText(amount, currency)}</p>
<dl>
<dt>Paid</dt><dd>${new Date(created * 1000).toISOString().slice(0, 10)}</dd>
${card && html`<dt>Card</dt><dd>${card.brand} ending in ${card.last4}</dd>`}
${amount_refunded > 0 && html`<dt>Given back</dt><dd>${moneyText(amount_refunded, currency)}</dd>`}
<dt>Payment</dt><dd>${payment.id}</dd>
${dispute && html`<dt>Dispute</dt><dd>${decisions[dispute.status]}</dd>`}
</dl>
${bank(dispute)}`;
    return { status: 200, title: 'Receipt', content };
  };

const decisions: Readonly<Record<Dispute['status'], string>> = {
  needs_response: 'open, its bank has not decided',
  won: 'decided: the bank lets it stand',
  lost: 'decided: the bank has taken it back',
};

const actions: Readonly<Record<string, (simulation: Simulation, paymentId: string, dispute?: Dispute) => unknown>> = {
  dispute: (simulation, id, dispute) => dispute ?? openDispute(simulation, id),
  win: (simulation, _, dispute) => dispute && closeDispute(simulation, dispute.id, 'won'),
  lose: (simulation, _, dispute) => dispute && closeDispute(simulation, dispute.id, 'lost'),
  warn: (simulation, id) => warnOfFraud(simulation, id),
};

/** A button that has nothing to act on, because another tab was faster, does nothing. */
function act(simulation: Simulation, id: string, action: string): void {
  simulation.store.transaction(() => {
    try {
      if (Object.hasOwn(actions, action)) actions[action]?.(simulation, id, disputeOn(simulation, id));
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
    }
  });
}

/** What the payer's bank may do. */
function bank(dispute: Dispute | undefined): Html | undefined {
  const button = (action: string, label: string) => html`<button name="action" value="${action}">${label}</button>`;
  if (dispute && dispute.status !== 'needs_response') return undefined;
  return html`
<h2>The payer’s bank</h2>
<form method="post"><div class="row">
${dispute ? [button('win', 'Let it stand'), button('lose', 'Take it back')] : [button('dispute', 'Dispute it'), button('warn', 'Warn of fraud')]}
</div></form>`;
}

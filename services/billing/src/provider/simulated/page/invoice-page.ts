import type { Invoice } from '../objects.ts';
import type { Simulation } from '../simulation.ts';
import { answerOnInvoice, waitingPayment } from '../waiting.ts';
import { bankQuestion } from './card-form.ts';
import { html } from './html.ts';
import { notice, type Page, type PageOf } from './layout.ts';
import { moneyText } from './money.ts';

/** The page on which the holder of a card confirms the payment of an invoice. */
export const invoicePage =
  (simulation: Simulation): PageOf =>
  (id, form) => {
    const { store } = simulation;
    const invoice = store.find('invoice', id);
    if (!invoice) return undefined;
    const action = form?.get('action');
    if (action !== 'confirm' && action !== 'refuse') return show(simulation, invoice);
    const answer = answerOnInvoice(simulation, id, action === 'confirm');
    if (answer.outcome === 'declined') return notice(402, 'Not paid', answer.why);
    return show(simulation, store.get('invoice', id));
  };

function show(simulation: Simulation, invoice: Invoice): Page {
  const payment = waitingPayment(simulation, invoice);
  if (invoice.status === 'paid') return notice(200, 'Paid', 'It is paid. You may close this page.');
  if (invoice.status !== 'open')
    return notice(
      410,
      'Too late',
      'This payment was not confirmed in time, or another change took its place. Nothing was paid.',
    );
  if (!payment) return notice(200, 'Not paid', 'Nothing waits to be confirmed here.');
  const { lines, currency } = invoice;
  const content = html`
<h1>${lines.data.map(({ description }) => description).join(', ')}</h1>
<p class="amount">${moneyText(payment.amount, currency)}</p>
${bankQuestion()}`;
  return { status: 200, title: 'Confirm a payment', content };
}

import {
  invoicePaid,
  listUsers,
  paymentFailed,
  paymentSucceeded,
  paymentWaits,
  updateUser,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { count, join, newEmail, type Person, signUp, startAccountService } from './support.ts';
import { messagesTo } from './support-mails.ts';
import { addMember } from './support-members.ts';
import { holdPurchase, paymentOf, refundOf, refundPaid, refundRefused } from './support-purchases.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
});
beforeEach(async () => {
  ada = await join(service);
});
afterAll(() => service.stop());

/** The payment mails to an address, after everything was sent. */
async function mailsTo(email: string) {
  return (await messagesTo(service, email)).filter(({ subject }) => /receipt|refund|payment/i.test(subject ?? ''));
}
const subjectsTo = async (email: string) => (await mailsTo(email)).map(({ subject }) => subject);
const linesOf = (text = '') => text.split(/\r?\n/).filter((line) => line.trim() !== '');

const pay = (fields: Parameters<typeof paymentOf>[1] = {}, event = paymentSucceeded) =>
  service.deliver(event, paymentOf(ada.accountId, fields), ada.accountId);
const fail = (reason: string | null, fields: Parameters<typeof paymentOf>[1] = {}) =>
  service.deliver(paymentFailed, { ...paymentOf(ada.accountId, fields), reason }, ada.accountId);

test.each([paymentSucceeded, invoicePaid])(
  'a receipt says what was bought, for how much, and where it stands',
  async (event) => {
    await pay({}, event);
    const [mail] = await mailsTo(ada.email);
    expect(mail?.subject).toBe('Your receipt: $79.00');
    expect(linesOf(mail?.text)).toEqual([
      'Hello Ada Lovelace,',
      'Thank you. We have received your payment:',
      '500 tokens',
      'Account: Ada Lovelace',
      'Amount: $79.00',
      'Tokens: 500',
      'Receipt: https://pay.example/receipts/1',
      'You need not do anything more.',
    ]);
    expect(mail?.html).toContain('<a href="https://pay.example/receipts/1">');
  },
);

test.each([
  ['usd', 7_900, '$79.00'],
  ['USD', 123_456_789, '$1,234,567.89'],
  ['eur', 5, '€0.05'],
  ['jpy', 7_900, '¥7,900'],
  ['points', 7_900, '79.00 POINTS'],
])('an amount is written as people write it: %s %d is %s', async (currency, amount_cents, written) => {
  await pay({ currency, amount_cents });
  expect(await subjectsTo(ada.email)).toEqual([`Your receipt: ${written}`]);
});

test('a payment of 0 sends no receipt; one for no tokens does not mention tokens', async () => {
  await pay({ amount_cents: 0 });
  await pay({ token_amount: 0, amount_cents: 100 });
  const mails = await mailsTo(ada.email);
  expect(mails).toHaveLength(1);
  expect(mails[0]?.text).not.toContain('Tokens');
});

test.each([null, 'javascript:alert(1)', 'data:text/html,x', 'not a link', ''])(
  'an invalid receipt link is left out: %p',
  async (receipt_url) => {
    await pay({ receipt_url });
    const [mail] = await mailsTo(ada.email);
    expect(`${mail?.text}${mail?.html}`).not.toMatch(/Receipt: |href|javascript|data:/);
  },
);

test('links and texts from outside are shown as text, on one line, without markup', async () => {
  const description = '<b>Pack</b> & "more"\r\n\r\nCall 0800';
  await pay({ description, receipt_url: 'https://pay.example/?a="><script>&b=1' });
  await fail('<i>declined</i>\nno');
  const [receipt, failure] = await mailsTo(ada.email);
  expect(receipt?.html).not.toMatch(/<b>|<script|"more"/);
  expect(receipt?.html).toContain('&lt;b&gt;Pack&lt;/b&gt; &amp; &quot;more&quot; Call 0800');
  expect(linesOf(receipt?.text)).toContain('<b>Pack</b> & "more" Call 0800');
  expect(failure?.html).toContain('Reason: &lt;i&gt;declined&lt;/i&gt; no');
  expect(linesOf(failure?.text)).toContain('Reason: <i>declined</i> no');
});

test('a payment that waits is announced with the page where it is confirmed, and until when', async () => {
  const waits = { ...paymentOf(ada.accountId), page_url: 'https://pay.example/invoices/1', expires_at: null };
  await service.deliver(paymentWaits, waits, ada.accountId);
  await service.deliver(paymentWaits, { ...waits, expires_at: '2030-01-02T03:04:05.000Z' }, ada.accountId);
  const [first, second] = await mailsTo(ada.email);
  expect(first?.subject).toBe('Please confirm your payment of $79.00');
  expect(linesOf(first?.text)).toContain('Confirm it here: https://pay.example/invoices/1');
  expect(first?.html).toContain('<a href="https://pay.example/invoices/1">');
  expect(second?.text).toContain('After 2030-01-02 03:04 UTC the change lapses.');
});

test('a refund to store credit says so', async () => {
  const payment = paymentOf(ada.accountId);
  await service.deliver(paymentSucceeded, payment, ada.accountId);
  await refundPaid(service, refundOf(payment, { destination: 'store_credit' }));
  const mail = (await mailsTo(ada.email)).at(-1);
  expect(mail?.subject).toBe('Your refund: $79.00 of store credit');
  expect(linesOf(mail?.text)).toContain('Tokens taken back: 500');
});

test('a failed payment is announced with its reason, if there is one', async () => {
  await fail('Your card was declined.');
  await fail(null);
  const [first, second] = await mailsTo(ada.email);
  expect([first?.subject, second?.subject]).toEqual(Array(2).fill('Your payment of $79.00 failed'));
  expect(linesOf(first?.text)).toContain('Reason: Your card was declined.');
  expect(second?.text).not.toContain('Reason');
});

test('a refund is announced with the tokens that it took, and again when the bank reverses it; a failed refund is not', async () => {
  const payment = paymentOf(ada.accountId);
  await service.deliver(paymentSucceeded, payment, ada.accountId);
  const refund = refundOf(payment, { token_amount: 200, amount_cents: 3160 });
  await refundRefused(service, refundOf(payment, { hold_id: await holdPurchase(service, payment) }));
  await refundPaid(service, refund);
  await refundRefused(service, refund, true);
  const mails = await mailsTo(ada.email);
  expect(mails.map(({ subject }) => subject)).toEqual([
    'Your receipt: $79.00',
    'Your refund: $31.60',
    'Your refund of $31.60 came back',
  ]);
  expect(linesOf(mails[1]?.text)).toContain('Tokens taken back: 200');
  expect(linesOf(mails[2]?.text)).toContain('Tokens given back: 200');
});

test('each message is sent once, even if its event is redelivered or published again', async () => {
  const payment = paymentOf(ada.accountId, { token_amount: 0 });
  const refund = refundOf(payment);
  const once = [
    await service.deliver(paymentSucceeded, payment, ada.accountId),
    await refundPaid(service, refund),
    await refundRefused(service, refund, true),
    await fail('No.'),
  ];
  for (const delivered of once) await service.redeliver(delivered, paymentSucceeded.topic.name);
  await service.deliver(invoicePaid, payment, ada.accountId);
  await refundPaid(service, refund);
  await refundRefused(service, refund, true);
  expect(await mailsTo(ada.email)).toHaveLength(4);
});

test('messages go to the account’s users with billing access only', async () => {
  const set = (person: Person, body: object) => ada.client.call(updateUser, { params: { id: person.userId }, body });
  const role = 'admin' as const;
  const admin = await addMember(service, ada, { role });
  const billing = await addMember(service, ada, { billing: true });
  const without = [
    await addMember(service, ada), // A member without billing.
    await addMember(service, ada, { billing: true, services: { campaign: 'w' } }),
    await addMember(service, ada, { role, services: { '*': 'w' } }),
    await addMember(service, ada, { role }),
    await addMember(service, ada, { billing: true }),
    await addMember(service, ada, { billing: true }),
    await join(service), // Of another account.
  ];
  const [, , narrowed, disabled, disabledUser, unverified] = without as [
    Person,
    Person,
    Person,
    Person,
    Person,
    Person,
  ];
  await set(narrowed, { services: { account: 'w' } });
  await set(disabled, { status: 'disabled' });
  await service.db.query('UPDATE users SET disabled_at = now() WHERE id = $1', [disabledUser.userId]);
  await service.db.query('UPDATE users SET email_verified_at = NULL WHERE id = $1', [unverified.userId]);
  const { entries } = (await ada.client.call(listUsers)).body;
  expect(entries.length).toBe(9);

  await pay();
  await fail(null);
  for (const { email } of [ada, admin, billing]) expect(await subjectsTo(email)).toHaveLength(2);
  for (const { email } of without) expect(await subjectsTo(email)).toEqual([]);
});

test('no message is sent for a deleted account, or before any user is verified', async () => {
  const email = newEmail();
  const { accountId } = await signUp(service, email);
  for (const id of [accountId, newId('account')]) {
    await service.deliver(paymentSucceeded, paymentOf(id), id);
    await service.deliver(paymentFailed, { ...paymentOf(id), reason: null }, id);
  }
  expect(await subjectsTo(email)).toEqual([]);
  expect(await count(service, 'dead_letters')).toBe(0);
});

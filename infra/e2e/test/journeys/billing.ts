import {
  cancelSubscription,
  captureTokenHold,
  changePlan,
  createCheckoutSession,
  createRefund,
  createTokenHold,
  getBalance,
  getRefund,
  getUsagePrice,
  listRefunds,
  resumeSubscription,
} from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { eventually } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { answerBank, atBank, buy, openCheckout, payAt, untilComplete } from '../support-billing.ts';
import { type Account, free, moneyOn } from '../support-money.ts';
import type { Platform } from '../support-platform.ts';

/** Payments and refunds. */
export function billingJourneys(on: () => Platform): void {
  const { newAccount, join, billingMail, untilMail, untilQuiet } = moneyOn(on);

  test('the purchase of a token pack shows up everywhere, and people with billing access get a receipt', async () => {
    const account = await newAccount();
    const [withBilling, admin, without] = [
      await join(account, { billing: true }),
      await join(account, { role: 'admin' }),
      await join(account, {}),
    ];
    const { id, url } = await openCheckout(account.client, 'tokens_1000');
    expect(await account.statusOf(id)).toBe('open');
    expect((await fetch(url)).status).toBe(200);
    expect(await payAt(url)).toBe(303);
    await eventually(async () => {
      expect(await account.statusOf(id)).toBe('complete');
      expect(await account.payments()).toMatchObject([
        { kind: 'token_pack', amount_cents: 900, currency: 'usd', token_amount: 1_000, status: 'succeeded' },
      ]);
      expect(await account.moneyEntries()).toMatchObject([
        { seq: 1, kind: 'payment', amount_cents: 900, balance_after_cents: 900 },
      ]);
      expect(await account.available()).toBe(free + 1_000);
    });
    expect(await account.tokenEntries()).toMatchObject([
      { seq: 2, kind: 'purchase', amount: 1_000, description: '1,000 tokens' },
      { seq: 1, kind: 'grant' },
    ]);
    const [payment] = await account.payments();
    expect((await fetch(payment?.receipt_url ?? '')).status).toBe(200);

    for (const email of [account.email, withBilling, admin]) await untilMail(email, ['Your receipt: $9.00']);
    await untilQuiet();
    expect(await billingMail(without)).toEqual([]);
  });

  test('a declined card results in a failed payment and a mail, and nothing else', async () => {
    const account = await newAccount();
    const { id, url } = await openCheckout(account.client, 'tokens_10000');
    expect(await payAt(url, 'is declined')).toBe(402);
    await untilMail(account.email, ['Your payment of $79.00 failed']);
    const [failed] = await account.payments();
    expect(failed).toMatchObject({ status: 'failed', receipt_url: null });
    expect(await account.statusOf(id)).toBe('open');
    expect(await account.moneyEntries()).toEqual([]);
    expect(await account.available()).toBe(free);

    await payAt(url);
    await untilComplete(account.client, id);
    expect(await account.payments()).toMatchObject([{ id: failed?.id, status: 'succeeded' }]);
  });

  test('a card that requires authentication pays only after its holder has confirmed', async () => {
    const account = await newAccount();
    const { id, url } = await openCheckout(account.client, 'tokens_1000');
    await payAt(url, 'asks the holder');
    await answerBank(url, 'refuse');
    await untilMail(account.email, ['Your payment of $9.00 failed']);
    expect(await account.statusOf(id)).toBe('open');
    await payAt(url, 'asks the holder');
    await answerBank(url, 'confirm');
    await untilComplete(account.client, id);
    await eventually(async () => expect(await account.available()).toBe(free + 1_000));
  });

  test('a checkout that is paid twenty times in parallel results in one payment, one grant, one entry and one receipt', async () => {
    const account = await newAccount();
    const { id, url } = await openCheckout(account.client, 'tokens_1000');
    const statuses = await Promise.all(Array.from({ length: 20 }, () => payAt(url)));
    expect(new Set(statuses)).toEqual(new Set([303]));
    await untilComplete(account.client, id);
    await untilMail(account.email, ['Your receipt: $9.00']);
    await untilQuiet();
    expect(await account.payments()).toMatchObject([{ status: 'succeeded', amount_cents: 900 }]);
    expect(await account.moneyEntries()).toMatchObject([{ seq: 1, balance_after_cents: 900 }]);
    expect((await account.tokenEntries()).map(({ kind }) => kind)).toEqual(['purchase', 'grant']);
    expect(await account.available()).toBe(free + 1_000);
    expect(await billingMail(account.email)).toHaveLength(1);
  });

  test('a plan is subscribed to, upgraded, downgraded, cancelled and resumed', async () => {
    const account = await newAccount();
    const { client } = account;
    const change = (plan_key: string) => client.call(changePlan, { body: { plan_key } });
    const none = { status: 'canceled', cancel_at_period_end: false, current_period_end: null };
    expect((await client.call(cancelSubscription)).body).toEqual(none);
    expect((await client.call(resumeSubscription)).status).toBe(404);
    expect((await change('growth')).status).toBe(404);

    const first = await buy(client, 'starter');
    expect(first).toMatchObject({ kind: 'subscription', amount_cents: 4_900, token_amount: 10_000 });
    const begun = await account.subscription();
    expect(begun).toEqual({
      plan_key: 'starter',
      status: 'active',
      cancel_at_period_end: false,
      current_period_end: expect.any(String),
    });
    const current_period_end = begun?.current_period_end ?? '';
    const active = { status: 'active', cancel_at_period_end: false, current_period_end };
    await eventually(async () => expect(await account.available()).toBe(free + 10_000));
    const another = { body: { mode: 'subscription', plan_key: 'growth' } } as const;
    expect((await client.call(createCheckoutSession, another)).status).toBe(409);
    expect((await change('starter')).status).toBe(409);

    expect((await change('growth')).body).toEqual({ plan_key: 'growth', change_type: 'upgrade', ...active });
    const prorated = await account.upgradePayment();
    const tokensOfUpgrade = prorated?.token_amount ?? 0;
    // The whole month remains, except for a few seconds.
    expect(Math.abs((prorated?.amount_cents ?? 0) - (19_900 - 4_900))).toBeLessThan(5);
    expect(Math.abs(tokensOfUpgrade - (50_000 - 10_000))).toBeLessThan(5);
    const tokens = free + 10_000 + tokensOfUpgrade;
    await eventually(async () => expect(await account.available()).toBe(tokens));

    expect((await change('starter')).body).toEqual({ plan_key: 'starter', change_type: 'downgrade', ...active });
    await untilQuiet();
    expect(await account.payments()).toHaveLength(2);
    expect(await account.available()).toBe(tokens);

    const cancelled = { ...active, cancel_at_period_end: true };
    for (const _ of [1, 2]) expect((await client.call(cancelSubscription)).body).toEqual(cancelled);
    expect(await account.subscription()).toEqual({ plan_key: 'starter', ...cancelled });
    for (const _ of [1, 2]) expect((await client.call(resumeSubscription)).body).toEqual(active);
  });
  const refund = (account: Account, payment_id: string, amount_cents?: number, idempotency_key = newUuid()) => {
    const body = { account_id: account.account_id, payment_id, idempotency_key, amount_cents: amount_cents ?? null };
    return on().inside('billing', 'billing').call(createRefund, { body });
  };

  test('a refund first takes the tokens, pays the money back once, and sends a mail', async () => {
    const account = await newAccount();
    const { client } = account;
    const payment = await buy(client, 'tokens_10000');
    await eventually(async () => expect(await account.available()).toBe(free + 10_000));

    const made = await refund(account, payment.id, 1_975, 'of this test');
    expect(made.status).toBe(201);
    const expected = {
      payment_id: payment.id,
      amount_cents: 1_975,
      token_amount: 2_500,
      destination: 'payment_method',
    };
    expect(made.body).toMatchObject({ ...expected, reason: 'requested_by_customer', status: 'succeeded' });
    const { id } = made.body;
    // The tokens are held or taken already, so no request after the response can spend them.
    expect(await account.available()).toBe(free + 7_500);
    expect((await refund(account, payment.id, 1_975, 'of this test')).body).toEqual(made.body);

    expect((await client.call(getRefund, { params: { id } })).body).toEqual(made.body);
    expect((await client.call(listRefunds)).body.entries).toEqual([made.body]);
    expect(await account.payments()).toMatchObject([{ id: payment.id, status: 'partially_refunded' }]);
    expect(await account.moneyEntries()).toMatchObject([
      { seq: 2, kind: 'refund', amount_cents: -1_975, balance_after_cents: 5_925, refund_id: id, payment_id: null },
      { seq: 1, kind: 'payment', amount_cents: 7_900 },
    ]);
    await untilMail(account.email, ['Your receipt: $79.00', 'Your refund: $19.75']);
    const [taken] = await account.tokenEntries();
    expect(taken).toMatchObject({ kind: 'refund', amount: -2_500, balance_after: free + 7_500 });
    expect((await client.call(getBalance, { params: { id: account.account_id } })).body.held).toBe(0);

    expect((await refund(account, payment.id, 5_926)).status).toBe(422);
    expect((await refund(account, payment.id)).body).toMatchObject({ amount_cents: 5_925, token_amount: 7_500 });
    expect(await account.payments()).toMatchObject([{ status: 'refunded' }]);
    await eventually(async () => expect(await account.tokenEntries()).toHaveLength(4));
    expect(await account.available()).toBe(free);
  });

  test('402: spent tokens of a pack are not refunded; the remaining ones are', async () => {
    const account = await newAccount();
    const payment = await buy(account.client, 'tokens_1000');
    await eventually(async () => expect(await account.available()).toBe(free + 1_000));
    const price = await on()
      .inside('billing', 'campaign')
      .call(getUsagePrice, { params: { action: 'score_ad' } });
    // The free tokens are spent first, then those of the pack.
    await spend(account, 150 * price.body.token_amount);
    expect(await account.available()).toBe(500);

    const { problem } = await refund(account, payment.id);
    expect(problem).toMatchObject({ status: 402, kind: 'insufficient-balance' });
    expect(problem?.detail).toMatch(/\b500\b.*\b1000\b/);
    expect((await account.client.call(listRefunds)).body.entries).toEqual([]);
    expect(await account.payments()).toMatchObject([{ status: 'succeeded' }]);
    expect(await account.available()).toBe(500);

    expect((await refund(account, payment.id, 450)).body).toMatchObject({ token_amount: 500, status: 'succeeded' });
    expect(await account.available()).toBe(0);
    expect((await refund(account, payment.id)).problem?.detail).toMatch(/\b0\b.*\b500\b/);
    await untilMail(account.email, ['Your receipt: $9.00', 'Your refund: $4.50']);
  });

  test('an upgrade that waits for the holder of the card keeps the plan, and is finished from the mail', async () => {
    const account = await newAccount();
    const { client } = account;
    const { id, url } = await openCheckout(client, 'starter');
    await payAt(url, 'asks each time');
    await answerBank(url, 'confirm');
    await untilComplete(client, id);
    const { body } = await client.call(changePlan, { body: { plan_key: 'growth' } });
    expect(body).toMatchObject({ plan_key: 'starter', change_type: 'upgrade', status: 'incomplete' });
    expect(await account.subscription()).toMatchObject({ plan_key: 'starter', status: 'active' });
    const page = await eventually(async () => {
      const mails = await on().mailbox.messagesTo(account.email);
      const found = mails
        .map((mail) => /Confirm it here: (\S+)/.exec(mail.replaceAll(/=\r?\n/g, ''))?.[1])
        .find((link) => link !== undefined);
      if (!found) throw new Error('There is no such mail yet');
      return found;
    });
    await answerBank(page, 'confirm');
    await account.upgradePayment();
    await eventually(async () => expect(await account.subscription()).toMatchObject({ plan_key: 'growth' }));
  });

  test('a disputed payment holds its tokens; when it is lost they go, and the next purchase pays for those that were spent', async () => {
    const account = await newAccount();
    const admin = await join(account, { role: 'admin' });
    const payment = await buy(account.client, 'tokens_1000');
    await eventually(async () => expect(await account.available()).toBe(free + 1_000));
    await spend(account, free + 400);
    await atBank(payment.receipt_url, 'dispute');
    await eventually(async () => {
      expect(await account.payments()).toMatchObject([{ id: payment.id, status: 'disputed' }]);
      expect(await account.available()).toBe(0);
    });
    expect((await refund(account, payment.id)).status).toBe(409);
    await atBank(payment.receipt_url, 'lose');
    await eventually(async () =>
      expect((await account.tokenEntries())[0]).toMatchObject({ kind: 'refund', amount: -600 }),
    );
    expect(await account.moneyEntries()).toMatchObject([
      { seq: 2, kind: 'dispute', amount_cents: -900, balance_after_cents: 0, payment_id: payment.id },
      { seq: 1, kind: 'payment', amount_cents: 900 },
    ]);
    await buy(account.client, 'tokens_1000');
    await eventually(async () => expect(await account.available()).toBe(600));
    expect((await account.tokenEntries()).slice(0, 2)).toMatchObject([
      { kind: 'debt', amount: -400, description: 'Debt of a lost dispute' },
      { kind: 'purchase', amount: 1_000 },
    ]);
    await untilMail(admin, [
      'Your receipt: $9.00',
      'Your bank disputes a payment of $9.00',
      'A payment of $9.00 was taken back',
      'Your receipt: $9.00',
    ]);
  });

  async function spend({ account_id }: Account, amount: number): Promise<void> {
    const inside = on().inside('account', 'campaign');
    const body = { account_id, amount, idempotency_key: newUuid(), description: 'Scoring', expires_in: '1h' };
    const { id } = (await inside.call(createTokenHold, { body })).body;
    expect((await inside.call(captureTokenHold, { params: { id }, body: { amount } })).status).toBe(200);
  }
}

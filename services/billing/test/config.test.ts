import { readOwnConfig } from '@attribution/service';
import { captureLogs, createTestClock, problemBase } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { billingSettings, checkBillingConfig } from '../src/config.ts';
import { openProvider } from '../src/provider/index.ts';

const readBillingConfig = (given: Readonly<Record<string, string>>) =>
  readOwnConfig({ settings: billingSettings, check: checkBillingConfig }, given);
const parts = { clock: createTestClock(), logger: captureLogs('billing').logger, problemBase };

test('in production payments are not simulated unless this is configured', () => {
  const production = { NODE_ENV: 'production' };
  expect(() => readBillingConfig(production)).toThrow('In production set STRIPE_SECRET_KEY');
  expect(readBillingConfig({ ...production, STRIPE_SECRET_KEY: 'sk_live_1' })).toMatchObject({ PORT: 8080 });
  expect(readBillingConfig({ ...production, ALLOW_SIMULATED_PAYMENTS: 'true' })).toMatchObject({ PORT: 8080 });
});

test('a Stripe key requires the secret of its notifications', () => {
  const stripe = { STRIPE_SECRET_KEY: 'sk_test_1' };
  expect(() => openProvider(readBillingConfig(stripe), parts)).toThrow('Set STRIPE_WEBHOOK_SECRETS');
  const { provider } = openProvider(readBillingConfig({ ...stripe, STRIPE_WEBHOOK_SECRETS: 'whsec_1,whsec_2' }), parts);
  expect(provider.name).toBe('stripe');
});

test('without a key payments are simulated', async () => {
  const { provider, stop } = openProvider(readBillingConfig({}), parts);
  expect(provider.name).toBe('simulated');
  await stop();
});

test('an api and a worker need the same file and secret to simulate payments', () => {
  const apart = { ROLE: 'api' };
  expect(() => readBillingConfig(apart)).toThrow('set SIMULATED_PAYMENTS_FILE and STRIPE_WEBHOOK_SECRETS');
  const shared = { SIMULATED_PAYMENTS_FILE: '/somewhere/payments.sqlite', STRIPE_WEBHOOK_SECRETS: 'whsec_1' };
  expect(readBillingConfig({ ...apart, ...shared })).toMatchObject({ STRIPE_WEBHOOK_SECRETS: ['whsec_1'] });
  expect(readBillingConfig({ ...apart, STRIPE_SECRET_KEY: 'sk_test_1' })).toMatchObject({ PORT: 8080 });
});

test.each([
  ['SIMULATED_PAYMENTS_FAILURES', '1.5'],
  ['SIMULATED_PAYMENTS_FAILURES', 'many'],
  ['SIMULATED_PAYMENTS_URL', 'ftp://127.0.0.1'],
  ['STRIPE_API_BASE', 'api.stripe.com'],
  ['PAYMENT_POLL_MS', '-1'],
  ['STRIPE_PACK_PAYMENT_METHODS', 'card,Bank debit'],
])('%s: %s is named, and nothing starts', (name, value) => {
  expect(() => readBillingConfig({ [name]: value })).toThrow(name);
});

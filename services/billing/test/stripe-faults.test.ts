import { captureLogs } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import { ProviderError } from '../src/provider/payment-provider.ts';
import { type Answer, fault, list, SECRET_KEY, type StripeDouble, send, startStripeDouble } from './stripe-double.ts';

const customer = { id: 'cus_1', object: 'customer', balance: -250 };
let double: StripeDouble | undefined;
afterEach(() => double?.stop());

type Options = Parameters<StripeDouble['provider']>[0];

/** The error that creating a customer ends with, where each answer speaks once and the last from then on. */
async function failure(answers: Answer[], options: Options = {}) {
  const provider = await answering(answers, options);
  const error = await provider.createCustomer({ accountId: 'acc_1', name: 'Acme' }, 'key-1').catch((thrown) => thrown);
  expect(error).toBeInstanceOf(ProviderError);
  return error as ProviderError;
}

async function answering(answers: Answer[], options: Options = {}) {
  let turn = 0;
  double = await startStripeDouble((asked, response) =>
    answers[Math.min(turn++, answers.length - 1)]?.(asked, response),
  );
  return double.provider(options);
}

const status =
  (code: number, error: Record<string, unknown>): Answer =>
  (_, response) =>
    send(response, code, fault(error));
const silence: Answer = () => {};
const half: Answer = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '200' });
  response.write('{"id":"cus_1","obj', () => response.socket?.destroy());
};
const hangUp: Answer = (_, response) => void response.socket?.destroy();

const keys = () => double?.asked.map(({ headers }) => headers['idempotency-key']);

test('a 500 is retried under the same idempotency key, and the second response counts', async () => {
  const provider = await answering([
    status(500, { type: 'api_error' }),
    (_, response) => send(response, 200, customer),
  ]);
  const made = await provider.createCustomer({ accountId: 'acc_1', name: 'Acme' }, 'key-1');
  expect(made).toEqual({ id: 'cus_1', balance_cents: -250 });
  expect(keys()).toEqual(['key-1', 'key-1']);
});

test('a broken connection is retried under the same idempotency key', async () => {
  const provider = await answering([hangUp, (_, response) => send(response, 200, customer)]);
  await provider.createCustomer({ accountId: 'acc_1', name: 'Acme' }, 'key-2');
  expect(keys()).toEqual(['key-2', 'key-2']);
});

test('silence is unavailable after the maximum number of attempts', async () => {
  expect((await failure([silence], { timeoutMs: 200, retries: 1 })).kind).toBe('unavailable');
  expect(keys()).toEqual(['key-1', 'key-1']);
});

test('by default there is one retry', async () => {
  await failure([status(503, { type: 'api_error' })]);
  expect(keys()).toEqual(['key-1', 'key-1']);
});

test('however many requests an operation makes, it is unavailable after its deadline', async () => {
  const provider = await answering([silence], { deadlineMs: 200 });
  const late = { kind: 'unavailable', message: expect.stringContaining('no answer in time') };
  await expect(provider.getInvoice('in_1')).rejects.toMatchObject(late);
});

test('a truncated body is unavailable', async () => {
  expect((await failure([half])).kind).toBe('unavailable');
});

test('a body that is not JSON is unavailable', async () => {
  const page: Answer = (_, response) => void response.writeHead(200).end('<html>maintenance</html>');
  expect((await failure([page])).kind).toBe('unavailable');
});

test('a refused connection is unavailable', async () => {
  const provider = await answering([silence], { retries: 0 });
  await double?.stop();
  double = undefined;
  await expect(provider.getCustomer('cus_1')).rejects.toMatchObject({ kind: 'unavailable' });
});

test.each<[number, string, Record<string, unknown>, ProviderError['kind']]>([
  [
    402,
    'a card that is declined',
    { type: 'card_error', code: 'card_declined', decline_code: 'expired_card' },
    'declined',
  ],
  [404, 'what is not there', { type: 'invalid_request_error', code: 'resource_missing' }, 'not_found'],
  [400, 'a parameter that is not there', { type: 'invalid_request_error', code: 'resource_missing' }, 'not_found'],
  [400, 'a bad request', { type: 'invalid_request_error', code: 'parameter_invalid_integer' }, 'refused'],
  [400, 'a key used for another request', { type: 'idempotency_error' }, 'refused'],
  [429, 'too many requests', { type: 'invalid_request_error', code: 'rate_limit' }, 'unavailable'],
  [409, 'a key that is in use', { type: 'idempotency_error', code: 'idempotency_key_in_use' }, 'unavailable'],
  [500, 'a failure of theirs', { type: 'api_error' }, 'unavailable'],
  [503, 'a failure of theirs', { type: 'api_error' }, 'unavailable'],
  [403, 'a key that may not', { type: 'invalid_request_error' }, 'unavailable'],
])('%i, %s: has its kind of error', async (code, _, error, kind) => {
  const thrown = await failure([status(code, error)], { retries: 0 });
  expect(thrown.kind).toBe(kind);
  expect(thrown.message).toContain(`${code}`);
  expect(thrown.message).toContain('req_1');
});

test('the secret key is in no message and no log, even if the response quotes it', async () => {
  const quoting = status(401, { type: 'invalid_request_error', message: `Invalid API Key provided: ${SECRET_KEY}` });
  const thrown = await failure([quoting]);
  expect(thrown.kind).toBe('unavailable');
  const logs = captureLogs();
  logs.logger.error({ err: thrown }, 'Stripe');
  for (const text of [thrown.message, String(thrown.stack), logs.text()]) {
    expect(text).toContain('Invalid API Key provided: [key]');
    expect(text).not.toContain(SECRET_KEY);
  }
  expect(double?.asked[0]?.headers.authorization).toBe(`Bearer ${SECRET_KEY}`);
});

test('the secret key is in no log of a failed connection', async () => {
  const thrown = await failure([hangUp], { retries: 0 });
  const logs = captureLogs();
  logs.logger.error({ err: thrown }, 'Stripe');
  expect(logs.text()).not.toContain(SECRET_KEY);
});

test.each(['', '..', 'pm_1/detach', 'pm_1?x=1', 'cus 1'])('the id %p is not found, without a request', async (id) => {
  const provider = await answering([(_, response) => send(response, 200, list([]))]);
  await expect(provider.getInvoice(id)).rejects.toMatchObject({ kind: 'not_found' });
  await expect(provider.detachPaymentMethod('cus_1', id)).rejects.toMatchObject({ kind: 'not_found' });
  expect(double?.asked).toEqual([]);
});

test('a customer that was deleted is not found', async () => {
  const provider = await answering([
    (_, response) => send(response, 200, { id: 'cus_1', object: 'customer', deleted: true }),
  ]);
  await expect(provider.getCustomer('cus_1')).rejects.toMatchObject({ kind: 'not_found' });
});

test('an API base that is not a URL is refused at once', async () => {
  const started = await startStripeDouble(silence);
  double = started;
  for (const apiBase of ['ftp://127.0.0.1', 'http://127.0.0.1/v1', 'nowhere']) {
    expect(() => started.provider({ apiBase })).toThrow();
  }
});

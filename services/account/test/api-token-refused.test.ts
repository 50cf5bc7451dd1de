import { exchangeApiKey } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join, type Person, rows, startAccountService } from './support.ts';
import { auditRecordsOn, exchange, type Key, makeKey, outcomeOf } from './support-keys.ts';

let service: TestService;
let ada: Person;
let key: Key;
let other: Key;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
  key = await makeKey(ada.client);
  other = await makeKey(ada.client);
});
afterAll(() => service.stop());

const noPair = '401 The access key id and secret are no pair of ours.';
/** Replaces the first character, which makes the checksum wrong. */
const altered = (secret: string) => (secret.startsWith('a') ? 'b' : 'a') + secret.slice(1);

async function refusal(headers: Record<string, string>): Promise<string> {
  const answer = await service.client.call(exchangeApiKey, { headers });
  expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  return `${answer.status} ${answer.problem?.detail}`;
}

test.each<[string, () => Record<string, string>]>([
  ['neither half', () => ({})],
  ['no secret', () => ({ 'x-access-key-id': key.access_key_id })],
  ['no id', () => ({ 'x-access-key-secret': key.access_key_secret })],
  ['an empty secret', () => ({ 'x-access-key-id': key.access_key_id, 'x-access-key-secret': '' })],
])('401, never 400: %s', async (_what, headers) => {
  expect(await refusal(headers())).toBe(noPair);
});

test.each<[string, () => { access_key_id?: string; access_key_secret?: string }]>([
  ['a secret cut short', () => ({ access_key_secret: key.access_key_secret.slice(0, 39) })],
  ['a secret made longer', () => ({ access_key_secret: `${key.access_key_secret}0` })],
  ['a secret of a wrong checksum', () => ({ access_key_secret: altered(key.access_key_secret) })],
  ['a secret in upper case', () => ({ access_key_secret: key.access_key_secret.toUpperCase() })],
  ['a secret with other characters', () => ({ access_key_secret: `${key.access_key_secret.slice(0, 39)}-` })],
  ['the hash in place of the secret', () => ({ access_key_secret: 'a'.repeat(64) })],
  ['an id cut short', () => ({ access_key_id: key.access_key_id.slice(0, -1) })],
  ['an id without an environment', () => ({ access_key_id: key.access_key_id.replace('_stage_', '_') })],
  ['an id of no environment of ours', () => ({ access_key_id: key.access_key_id.replace('stage', 'test') })],
  ['the key’s own id', () => ({ access_key_id: key.id })],
  ['SQL', () => ({ access_key_id: `${key.access_key_id}' OR '1'='1` })],
  ['two ids', () => ({ access_key_id: `${key.access_key_id}, ${other.access_key_id}` })],
  ['a very long id', () => ({ access_key_id: key.access_key_id + 'x'.repeat(5_000) })],
  ['both halves swapped', () => ({ access_key_id: key.access_key_secret, access_key_secret: key.access_key_id })],
])('401, never 400, without a look-up: %s', async (_what, change) => {
  const halves = { ...key, ...change() };
  const headers = { 'x-access-key-id': halves.access_key_id, 'x-access-key-secret': halves.access_key_secret };
  const statements = await service.statementsOf(async () => expect(await refusal(headers)).toBe(noPair));
  expect(statements).toEqual([]);
});

test('401: an unknown id, a wrong secret and another key’s secret get the same response and send the same statements', async () => {
  const { access_key_id, access_key_secret } = other;
  const unknown = `atp_stage_${'x'.repeat(22)}`;
  const strangers = await makeKey((await join(service)).client);
  for (const [id, secret] of [
    [unknown, access_key_secret],
    [key.access_key_id, access_key_secret],
    [access_key_id, strangers.access_key_secret],
  ] as const) {
    const headers = { 'x-access-key-id': id, 'x-access-key-secret': secret };
    const statements = await service.statementsOf(async () => expect(await refusal(headers)).toBe(noPair));
    expect(statements).toHaveLength(1);
  }
});

interface Fault {
  readonly set: string;
  readonly detail: string;
}
const faults: Record<string, Fault> = {
  revoked: { set: 'UPDATE api_keys SET revoked_at = now()', detail: '401 This API key is revoked.' },
  expired: { set: `UPDATE api_keys SET expires_at = now()`, detail: '401 This API key has expired.' },
  'rotated without grace': {
    set: `UPDATE api_keys SET rotated_at = now(), expires_at = now()`,
    detail: '401 This API key has expired.',
  },
  'revoked in its grace': {
    set: `UPDATE api_keys SET rotated_at = now(), expires_at = now() + interval '1 hour', revoked_at = now()`,
    detail: '401 This API key is revoked.',
  },
  'of another environment': {
    set: `UPDATE api_keys SET access_key_id = replace(access_key_id, '_stage_', '_live_')`,
    detail: '401 This API key belongs to another environment.',
  },
  'of another platform': {
    set: `UPDATE api_keys SET access_key_id = replace(access_key_id, 'atp_', 'acme_')`,
    detail: '401 This API key belongs to another environment.',
  },
};

async function faulty(fault: Fault): Promise<Key> {
  const made = await makeKey(ada.client);
  await service.db.query(`${fault.set} WHERE id = $1`, [made.id]);
  const [row] = await rows<{ access_key_id: string }>(
    service,
    'SELECT access_key_id FROM api_keys WHERE id = $1',
    made.id,
  );
  return { ...made, ...row };
}

test.each(Object.entries(faults))(
  '401: a key that is %s is reported as such only to a caller with its secret',
  async (_what, fault) => {
    const made = await faulty(fault);
    expect(await outcomeOf(service, made)).toBe(fault.detail);
    expect(await outcomeOf(service, { ...made, access_key_secret: key.access_key_secret })).toBe(noPair);
  },
);

test.each(['suspended', 'closed'])(
  '403: the account is %s, which is revealed only to a caller with the secret',
  async (status) => {
    const bob = await join(service);
    const made = await makeKey(bob.client);
    await service.db.query('UPDATE accounts SET status = $2::"AccountStatus" WHERE id = $1', [bob.accountId, status]);
    const { problem } = await exchange(service, made);
    expect([problem?.status, problem?.kind]).toEqual([403, 'forbidden']);
    expect(problem?.detail).toBe(`The account of this API key is ${status}.`);
    expect(await outcomeOf(service, { ...made, access_key_secret: key.access_key_secret })).toBe(noPair);
  },
);

test('401 before 403: a revoked key of a closed account', async () => {
  const bob = await join(service);
  const made = await makeKey(bob.client);
  await service.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [made.id]);
  await service.db.query(`UPDATE accounts SET status = 'closed' WHERE id = $1`, [bob.accountId]);
  expect(await outcomeOf(service, made)).toBe(faults.revoked?.detail);
});

test('a refusal after the right secret is in the audit log before the response is sent', async () => {
  const made = await makeKey(ada.client);
  await service.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [made.id]);
  await outcomeOf(service, made);
  const [, ...refused] = await auditRecordsOn(service, made.id);
  expect(refused).toEqual([
    {
      action: 'api_key.exchanged',
      outcome: 'refused',
      actor_type: 'api_key',
      actor_id: made.id,
      details: { reason: 'This API key is revoked.' },
    },
  ]);
});

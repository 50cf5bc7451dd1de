import { createHash } from 'node:crypto';
import { deleteApiKey, rotateApiKey, updateApiKey } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { hashSecret, looksLikeKey, newKeyPair } from '../src/api-keys/secret.ts';
import { join, rows, startAccountService } from './support.ts';
import { exchange, keyEvents, makeKey, outcomeOf } from './support-keys.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const environment = { prefix: 'atp', name: 'live' } as const;

describe('the id and the secret of a key', () => {
  const pairs = Array.from({ length: 500 }, () => newKeyPair(environment));

  test('have the right format, and are never generated twice', () => {
    for (const { accessKeyId, secret } of pairs) {
      expect(accessKeyId).toMatch(/^atp_live_[0-9A-Za-z]{22}$/);
      expect(secret).toMatch(/^[0-9A-Za-z]{40}$/);
      expect(looksLikeKey(accessKeyId, secret)).toBe(true);
    }
    expect(new Set(pairs.flatMap(({ accessKeyId, secret }) => [accessKeyId, secret])).size).toBe(1000);
  });

  test('reveal nothing about each other', () => {
    for (const { accessKeyId, secret } of pairs) {
      const random = accessKeyId.slice('atp_live_'.length);
      for (let at = 0; at + 6 <= random.length; at++) expect(secret).not.toContain(random.slice(at, at + 6));
    }
  });

  test('use every character of base62, also in the first position', () => {
    expect(new Set(pairs.flatMap(({ secret }) => [...secret.slice(0, 34)])).size).toBe(62);
    expect(new Set(pairs.map(({ secret }) => secret[0])).size).toBeGreaterThan(50);
  });
});

test('the last six characters are a checksum: deterministic and of fixed width', () => {
  // CRC-32 of the 34 zeros by zlib itself, 662668069, in base62.
  expect(looksLikeKey(`atp_live_${'0'.repeat(22)}`, `${'0'.repeat(34)}0iqUEf`)).toBe(true);
});

test('a changed character anywhere, two swapped characters, and a random word are not valid secrets', () => {
  const { accessKeyId, secret } = newKeyPair(environment);
  for (let at = 0; at < secret.length; at++) {
    const other = secret[at] === 'a' ? 'b' : 'a';
    expect(looksLikeKey(accessKeyId, secret.slice(0, at) + other + secret.slice(at + 1))).toBe(false);
  }
  const [first = '', second = ''] = secret;
  if (first !== second) expect(looksLikeKey(accessKeyId, second + first + secret.slice(2))).toBe(false);
  expect(looksLikeKey(accessKeyId, 'x'.repeat(40))).toBe(false);
});

test('only the sha256 of a secret is stored', async () => {
  const { client } = await join(service);
  const { id, access_key_secret: secret } = await makeKey(client);
  const [row] = await rows<{ secret_hash: string }>(service, 'SELECT * FROM api_keys WHERE id = $1', id);
  expect(row?.secret_hash).toBe(createHash('sha256').update(secret).digest('hex'));
  expect(row?.secret_hash).toBe(hashSecret(secret));
  expect(JSON.stringify(row)).not.toContain(secret);
});

test('after a full lifecycle of keys, with refusals and server errors, no secret, hash or token is in logs, records or events', async () => {
  const { client, accountId } = await join(service);
  const secrets: string[] = [];
  const keyed = { headers: { 'idempotency-key': 'a-life' } };
  const first = await makeKey(client.with(keyed), { role: 'admin', readonly: false });
  const params = { id: first.id };
  const { body: second } = await client.with(keyed).call(rotateApiKey, { params, body: { grace: '1h' } });
  for (const key of [first, second]) {
    const { body } = await exchange(service, key);
    secrets.push(key.access_key_secret, hashSecret(key.access_key_secret), body.access_token.split('.')[2] ?? '');
  }
  await outcomeOf(service, { ...first, access_key_secret: second.access_key_secret });
  await outcomeOf(service, { ...first, access_key_secret: `${first.access_key_secret}x` });
  await client.call(updateApiKey, { params, body: { access_key_secret: first.access_key_secret } as never });
  await client.call(deleteApiKey, { params });
  await outcomeOf(service, first);

  await service.db.query('ALTER TABLE api_keys RENAME COLUMN secret_hash TO gone');
  expect(await outcomeOf(service, second)).toMatch(/^503/);
  expect((await client.call(rotateApiKey, { params: { id: second.id } })).status).toBe(503);
  await service.db.query('ALTER TABLE api_keys RENAME COLUMN gone TO secret_hash');
  await service.db.query('ALTER TABLE api_keys ADD CONSTRAINT nobody CHECK (name = id) NOT VALID');
  expect((await client.call(rotateApiKey, { params: { id: second.id } })).status).toBe(503);
  await service.db.query('ALTER TABLE api_keys DROP CONSTRAINT nobody');

  const events = await keyEvents(service, accountId);
  const kept = ['audit_log', 'idempotency_keys', 'outbox', 'inbox'];
  const written = await Promise.all(kept.map((table) => rows(service, `SELECT * FROM ${table}`)));
  const logs = service.logs.text();
  expect(logs).toContain('"operation":"exchange_api_key"');
  expect(logs).toContain('A request failed');
  expect(events.length).toBeGreaterThan(2);
  const places = { logs, events: JSON.stringify(events), written: JSON.stringify(written) };
  for (const [place, text] of Object.entries(places))
    expect([place, secrets.filter((secret) => text.includes(secret))]).toEqual([place, []]);
});

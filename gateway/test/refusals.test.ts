import { type AuditEntry, recordRefusals } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, keyToken, personToken, supportToken, testInternal, testInternalKeys } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGateway, startUpstream, type TestGateway, type Upstream } from './support.ts';

let upstream: Upstream;
let gateway: TestGateway;
/** The responses to reports, until the test changes it. */
let away = false;
beforeAll(async () => {
  upstream = await startUpstream((res, { url }) => {
    const status = url === recordRefusals.path ? (away ? 503 : 204) : 200;
    res.writeHead(status).end();
  });
  gateway = await startGateway(upstream, {
    INTERNAL_PRIVATE_KEYS: JSON.stringify(testInternalKeys.private.gateway),
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

const reports = () => upstream.seen.filter(({ url }) => url === recordRefusals.path);
const entriesOf = (account: string) =>
  reports()
    .flatMap(({ body }) => (JSON.parse(body.toString()) as { entries: AuditEntry[] }).entries)
    .filter(({ account_id }) => account_id === account);

test('a refused key is reported to the service with the audit log, by the gateway, with who, where from, and both ids', async () => {
  const account = newId('account');
  const sub = newId('api_key');
  const token = keyToken({ account, sub });
  const headers = {
    'x-request-id': 'an-id-of-mine',
    'user-agent': 'Mosaic/0.9',
    'x-internal-request-id': newId('user'),
  };
  const reply = await gateway.send('/v2/users', { token, headers, ip: '203.0.113.9' });
  expect(reply.status).toBe(403);
  const [entry] = await eventually(() => {
    const found = entriesOf(account);
    if (found.length === 0) throw new Error('Not reported yet');
    return found;
  });
  expect(entry).toMatchObject({
    action: 'list_users',
    outcome: 'refused',
    actor: { type: 'api_key', id: sub },
    ip: '203.0.113.9',
    user_agent: 'Mosaic/0.9',
    request_id: 'an-id-of-mine',
    details: { reason: 'An API key cannot be used here: sign in as a person.' },
  });
  expect(entry?.platform_request_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  expect(JSON.stringify(entry)).not.toContain(token);
  expect(testInternal('account').verify(reports()[0]?.headers.authorization)).toBe('gateway');
  // The same id is in the request's line, beside the client's.
  await eventually(() =>
    expect(gateway.logs.text()).toContain(`"platform_request_id":"${entry?.platform_request_id}"`),
  );
});

test('300 refusals of one key at one endpoint are one record for now, and of a support session another', async () => {
  const account = newId('account');
  const token = keyToken({ account });
  for (let n = 0; n < 300; n++) await gateway.send('/v2/users', { token });
  await gateway.send('/v2/users/me', { token: supportToken({ account }) });
  await eventually(() => expect(entriesOf(account)).toHaveLength(2));
});

test('while the log is away, requests are refused as always, and what is lost is counted', async () => {
  away = true;
  const lost = await gateway.count('audit_refusals_lost_total');
  expect((await gateway.send('/v2/users', { token: keyToken() })).status).toBe(403);
  await eventually(async () => expect(await gateway.count('audit_refusals_lost_total')).toBe(lost + 1));
  away = false;
});

test('without a key of its own the gateway refuses all the same, and counts', async () => {
  const keyless = await startGateway(upstream);
  expect((await keyless.send('/v2/users', { token: keyToken() })).status).toBe(403);
  await eventually(async () => expect(await keyless.count('audit_refusals_lost_total')).toBe(1));
  await keyless.stop();
});

test('each request that goes on has an id of the platform’s, which no client can choose', async () => {
  const chosen = '01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f';
  const headers = { 'x-internal-request-id': chosen, 'x-request-id': chosen };
  const seen: unknown[] = [];
  for (const token of [personToken(), personToken()]) {
    const reply = await gateway.send('/v2/plans', { token, headers });
    expect(reply.headers).not.toHaveProperty('x-internal-request-id');
    expect(upstream.seen.at(-1)?.headers['x-request-id']).toBe(chosen);
    seen.push(upstream.seen.at(-1)?.headers['x-internal-request-id']);
  }
  expect(new Set([...seen, chosen]).size).toBe(3);
  for (const id of seen) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

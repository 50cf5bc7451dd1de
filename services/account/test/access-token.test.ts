import { getMe } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { claimsIn, enter, join, refresh, startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const times = {
  iat: expect.any(Number),
  exp: expect.any(Number),
  iss: 'attribution-platform',
  aud: 'attribution-platform',
};

const setMembership = (userId: string, columns: string) =>
  service.db.query(`UPDATE memberships SET ${columns} WHERE user_id = $1`, [userId]);

/** The claims of a new login. */
const claimsOf = async (email: string) => claimsIn(service, (await enter(service, email)).access_token);

test('an owner’s token has the claims of the specification and no restriction', async () => {
  const { email, userId, accountId } = await join(service);
  expect(await claimsOf(email)).toEqual({
    ...times,
    sub: userId,
    account: accountId,
    role: 'owner',
    account_type: 'network',
    sid: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
});

test('a narrowed member’s token has group_scope and the letters of its groups', async () => {
  const { email, userId, accountId } = await join(service);
  const [north, south] = [newId('group'), newId('group')];
  await setMembership(userId, "role = 'member', group_scope = 'selected', billing = true");
  const insert =
    'INSERT INTO group_grants (user_id, account_id, group_id, role) VALUES ($1, $2, $3, $4::"GroupGrantRole")';
  await service.db.query(insert, [userId, accountId, north, 'a']);
  await service.db.query(insert, [userId, accountId, south, 'm']);
  const claims = await claimsOf(email);
  expect(claims).toMatchObject({ role: 'member', group_scope: 'selected', groups: { [north]: 'a', [south]: 'm' } });
  expect(claims).not.toHaveProperty('bil');
});

test('a member narrowed to no group has both claims, and sees nothing', async () => {
  const { email, userId } = await join(service);
  await setMembership(userId, "role = 'member', group_scope = 'selected'");
  expect(await claimsOf(email)).toMatchObject({ group_scope: 'selected', groups: {} });
});

test('an account-wide caller’s token has neither claim, even if old grants remain', async () => {
  const { email, userId, accountId } = await join(service);
  await setMembership(userId, "role = 'admin', group_scope = 'all'");
  await service.db.query("INSERT INTO group_grants VALUES ($1, $2, $3, 'a')", [userId, accountId, newId('group')]);
  const claims = await claimsOf(email);
  expect(claims).not.toHaveProperty('group_scope');
  expect(claims).not.toHaveProperty('groups');
  expect(claims).not.toHaveProperty('bil');
  expect(claims).not.toHaveProperty('svc');
});

test.each([
  ['n for a member', "role = 'member'", 'n'],
  ['absent for a member to whom it was granted', "role = 'member', billing = true", undefined],
  ['absent for an admin', "role = 'admin'", undefined],
])('bil: %s', async (_what, columns, bil) => {
  const { email, userId } = await join(service);
  await setMembership(userId, columns);
  expect((await claimsOf(email)).bil).toBe(bil);
});

test.each([
  ['the map that was granted', '{"*":"r","campaign":"w"}', { '*': 'r', campaign: 'w' }],
  ['nothing, where nothing was granted', '{}', {}],
  ['nothing, where the map cannot be read', '{"campaign":"all"}', {}],
  ['nothing, where it is no map', '"w"', {}],
])('svc: %s', async (_what, json, svc) => {
  const { email, userId } = await join(service);
  await service.db.query('UPDATE memberships SET services = $2 WHERE user_id = $1', [userId, json]);
  expect((await claimsOf(email)).svc).toEqual(svc);
});

test('an access token is valid for 15 minutes', async () => {
  const { session } = await join(service);
  const { iat, exp } = claimsIn(service, session.access_token);
  expect(exp - iat).toBe(15 * 60);
  const me = service.client.with({ token: session.access_token });
  service.clock.advance({ minutes: 14 });
  expect((await me.call(getMe)).status).toBe(200);
  service.clock.advance({ minutes: 1 });
  expect((await me.call(getMe)).problem?.kind).toBe('unauthorized');
});

test('each session has its own sid, which its refreshed tokens keep', async () => {
  const { email, session } = await join(service);
  const first = claimsIn(service, session.access_token).sid;
  expect((await claimsOf(email)).sid).not.toBe(first);
  const { body } = await refresh(service, session.refresh_token);
  expect(claimsIn(service, body.access_token).sid).toBe(first);
});

import { createInvitation, deleteInvitation, listInvitations, resendInvitation } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { atOnce, count, join, newEmail, type Person, rows, startAccountService, statusesOf } from './support.ts';
import { addGroup } from './support-keys.ts';
import { eventsOf } from './support-ledger.ts';
import { accept, invite, latestDeed } from './support-members.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService({ APP_URL: 'https://app.test/product' });
  ada = await join(service);
});
afterAll(() => service.stop());

const create = (body: object, caller: Pick<Person, 'client'> = ada) =>
  caller.client.call(createInvitation, { body: body as never });
const list = async (caller = ada, query: { limit?: number; cursor?: string } = {}) =>
  (await caller.client.call(listInvitations, { query })).body;
const resend = (id: string, caller = ada) => caller.client.call(resendInvitation, { params: { id } });
const remove = (id: string, caller = ada) => caller.client.call(deleteInvitation, { params: { id } });
const week = 7 * 24 * 60 * 60 * 1000;

test('201: with defaults; user.invited is published and the invitation is recorded', async () => {
  const email = newEmail();
  const { status, body } = await create({ email });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^inv_/),
    email,
    role: 'member',
    group_scope: 'all',
    groups: [],
    services: null,
    billing: false,
    status: 'pending',
    invited_by: ada.userId,
    expires_at: new Date(Date.parse(body.created_at) + week).toISOString(),
    accepted_at: null,
    created_at: expect.stringMatching(/Z$/),
  });
  expect((await list()).entries[0]).toEqual(body);
  const data = { account_id: ada.accountId, invitation_id: body.id };
  expect((await eventsOf(service, ada.accountId, 'user.invited')).at(-1)).toEqual({ type: 'user.invited', data });
  expect(await latestDeed(service, body.id)).toMatchObject({
    account_id: ada.accountId,
    action: 'user.invited',
    actor_id: ada.userId,
    details: { email, role: 'member' },
  });
});

test('201: with all rights that an invitation can give; unknown fields are ignored', async () => {
  const group = await addGroup(service, ada.accountId);
  const rights = { role: 'member', group_scope: 'selected', services: { '*': 'r', campaign: 'w' }, billing: true };
  const { body } = await create({
    email: newEmail(),
    ...rights,
    groups: [group],
    account_id: 'acc_1',
    status: 'accepted',
  });
  expect(body).toMatchObject({ ...rights, groups: [{ group_id: group, role: 'm' }], status: 'pending' });
  expect((await create({ email: newEmail(), role: 'admin' })).body).toMatchObject({ role: 'admin', billing: true });
});

test('201: one message to the address names the account and has the link; only a hash of the secret is stored', async () => {
  const { id, email, token } = await invite(service, ada);
  const messages = await service.mailbox.messagesTo(email);
  expect(messages).toHaveLength(1);
  const mail = await PostalMime.parse(messages[0] ?? '');
  expect(mail.subject).toBe('You are invited to Ada Lovelace');
  const link = `https://app.test/product/invitations/accept?token=${token}`;
  expect(mail.text?.split('\n')).toContain(link);
  expect(mail.html).toContain(`href="${link}"`);
  const [row] = await rows(service, 'SELECT * FROM invitations WHERE id = $1', id);
  expect(JSON.stringify(row)).not.toContain(token);
});

test('201: an address can be invited to two accounts', async () => {
  const { email } = await invite(service, ada);
  expect((await create({ email }, await join(service))).status).toBe(201);
});

test('200: newest first, in pages without gaps, including accepted and expired ones', async () => {
  const owner = await join(service);
  const made: string[] = [];
  for (let i = 0; i < 4; i++) made.unshift((await invite(service, owner)).id);
  const { token } = await invite(service, owner);
  await accept(service, token);
  await service.db.query('UPDATE invitations SET expires_at = now() WHERE id = $1', [made[3]]);
  const first = await list(owner, { limit: 2 });
  const second = await list(owner, { limit: 2, cursor: first.next_cursor ?? '' });
  const third = await list(owner, { limit: 2, cursor: second.next_cursor ?? '' });
  const all = [first, second, third].flatMap(({ entries }) => entries);
  expect(all.slice(1).map(({ id }) => id)).toEqual(made);
  expect(all.map(({ status }) => status)).toEqual(['accepted', 'pending', 'pending', 'pending', 'expired']);
  expect(third.next_cursor).toBeNull();
});

test('202: a resent invitation has a new link that is valid for a week; the old link stops working', async () => {
  const { id, email, token } = await invite(service, ada);
  await service.db.query('UPDATE invitations SET expires_at = now() WHERE id = $1', [id]);
  expect(await resend(id)).toMatchObject({ status: 202, body: undefined });
  const renewed = await service.mailbox.tokenFor(email, 2);
  expect(renewed).not.toBe(token);
  expect((await accept(service, token)).problem?.kind).toBe('not-found');
  const entry = (await list()).entries.find((one) => one.id === id);
  expect(entry?.status).toBe('pending');
  expect(Date.parse(entry?.expires_at ?? '') - service.clock.now().getTime()).toBeGreaterThan(week - 60_000);
  expect(await latestDeed(service, id)).toMatchObject({ action: 'invitation.resent', actor_id: ada.userId });
  expect((await accept(service, renewed)).status).toBe(200);
});

test('409: an accepted invitation cannot be resent', async () => {
  const { id, token } = await invite(service, ada);
  await accept(service, token);
  expect((await resend(id)).problem).toMatchObject({ status: 409, detail: 'This invitation was accepted.' });
});

test('204: a deleted invitation disappears, and its link stops working', async () => {
  const { id, email, token } = await invite(service, ada);
  expect(await remove(id)).toMatchObject({ status: 204, body: undefined });
  expect((await accept(service, token)).problem?.kind).toBe('not-found');
  expect(await latestDeed(service, id)).toMatchObject({ action: 'invitation.deleted', details: { email } });
  for (const again of [await remove(id), await resend(id)]) expect(again.problem?.kind).toBe('not-found');
  expect((await create({ email })).status).toBe(201);
});

test('201: replaces an expired invitation, whose deletion is recorded as well', async () => {
  const email = newEmail();
  const { id } = await invite(service, ada, { email: email.toUpperCase() });
  await service.db.query('UPDATE invitations SET expires_at = now() WHERE id = $1', [id]);
  expect((await create({ email })).status).toBe(201);
  expect(await latestDeed(service, id)).toEqual({
    account_id: ada.accountId,
    action: 'invitation.deleted',
    outcome: 'done',
    actor_type: 'person',
    actor_id: ada.userId,
    details: { email: email.toUpperCase(), reason: 'expired' },
  });
});

test('201: a repeated Idempotency-Key returns the same invitation and sends no further message; 409 for another address', async () => {
  const client = ada.client.with({ headers: { 'idempotency-key': 'invite-once' } });
  const body = { email: newEmail() };
  const first = await create(body, { client });
  const answers = await atOnce(() => create(body, { client }));
  for (const answer of answers) expect(answer).toMatchObject({ status: 201, body: first.body });
  await service.mailbox.tokenFor(body.email);
  expect(await service.mailbox.messagesTo(body.email)).toHaveLength(1);
  const { status, problem } = await create({ email: newEmail() }, { client });
  expect([status, problem?.detail]).toEqual([409, 'Idempotency-Key: was used for another request.']);
});

test('20 invitations of one address at once: one is created, and one message is sent', async () => {
  const email = newEmail();
  const answers = await atOnce((i) => create({ email: i % 2 ? email : email.toUpperCase() }));
  expect(statusesOf(answers)).toEqual({ 201: 1, 409: 19 });
  expect(await count(service, 'invitations', 'lower(email) = $1', email)).toBe(1);
  const to = answers.find(({ status }) => status === 201)?.body.email ?? '';
  await service.mailbox.tokenFor(to);
  expect(await service.mailbox.messagesTo(to)).toHaveLength(1);
});

test('20 resends at once: as many as an hour allows are sent, and exactly one of the sent links works', async () => {
  const { id, email } = await invite(service, ada);
  expect(statusesOf(await atOnce(() => resend(id)))).toEqual({ 202: 4, 409: 16 });
  await service.mailbox.tokenFor(email, 5);
  const texts = await Promise.all((await service.mailbox.messagesTo(email)).map((raw) => PostalMime.parse(raw)));
  const tokens = texts.map(({ text }) => /token=([\w-]+)/.exec(text ?? '')?.[1] ?? '');
  const statuses: number[] = [];
  for (const token of tokens) statuses.push((await accept(service, token)).status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(1);
});

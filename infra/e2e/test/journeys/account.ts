import {
  contextOf,
  createCampaign,
  createGroup,
  createLocation,
  getBalance,
  getBillingSummary,
  getCampaign,
  getMe,
  getMyPermissions,
  listCampaigns,
  listGroups,
  listLedger,
  listLocations,
  listPlanPrices,
  listPlans,
  listUsagePrices,
  login,
  logout,
  refreshSession,
  type Session,
  signup,
  verifyEmail,
} from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import type { z } from 'zod';
import { untilImported, upload } from '../support-estate.ts';
import { fromSomewhere, newEmail, newOwner, type Platform, password } from '../support-platform.ts';

/** A new customer's account, and its isolation from others. */
export function accountJourneys(on: () => Platform): void {
  test('a new user signs up, verifies, reads, sets up a location and a campaign, and logs out', async () => {
    const { mailbox } = on();
    const client = on().client.with({ headers: fromSomewhere() });
    const email = newEmail();
    const signedUp = await client.call(signup, { body: { email, password, full_name: 'Ada Lovelace' } });
    expect(signedUp.status).toBe(202);
    expect(signedUp.body.verification).toMatchObject({ method: 'email_code', code_length: 6, code_charset: 'digits' });

    const early = await client.call(login, { body: { email, password } });
    expect(early.problem).toMatchObject({ status: 403, kind: 'forbidden' });

    const verified = await client.call(verifyEmail, { body: { email, code: await mailbox.codeFor(email) } });
    const session = verified.body as z.output<typeof Session>;
    expect(Object.keys(session).sort()).toEqual(['access_token', 'account', 'refresh_token', 'user']);
    expect(session.user).toMatchObject({ id: signedUp.body.user_id, email, email_verified: true });
    expect(session.account.id).toBe(signedUp.body.account_id);

    const me = client.with({ token: session.access_token });
    expect((await me.call(getMe)).body).toEqual(session.user);
    expect((await me.call(getMyPermissions)).body).toMatchObject({ role: 'owner', group_scope: 'all', groups: [] });
    expect((await me.call(listPlans)).body.map((plan) => plan.key)).toContain('free');

    const account = { id: session.account.id };
    const ledger = (await me.call(listLedger, { params: account })).body;
    expect(ledger).toMatchObject({
      entries: [{ seq: 1, kind: 'grant', amount: 1000, balance_after: 1000 }],
      next_cursor: null,
    });
    expect((await me.call(getBalance, { params: account })).body).toMatchObject({
      posted: 1000,
      held: 0,
      available: 1000,
    });

    const group = (await me.call(createGroup, { body: { name: 'City shops' } })).body;
    const created = await me.call(createLocation, {
      body: { group_id: group.id, name: 'Main Street', timezone: 'Europe/Zurich' },
    });
    expect(created.status).toBe(201);
    expect((await me.call(listLocations)).body).toEqual({ entries: [created.body], next_cursor: null });

    const brief = { product: 'Trail sneakers', objective: 'Visits' };
    const campaign = await me.call(createCampaign, { body: { name: 'Summer sneakers', brief } });
    expect(campaign.body).toMatchObject({
      status: 'draft',
      current_version: null,
      brief: { version: 1, ...brief, outcome: null },
    });
    const listed = (await me.call(listCampaigns, { query: { status: 'draft,published' } })).body;
    expect(listed.data.map((entry) => [entry.id, entry.brief])).toEqual([
      [campaign.body.id, { product: 'Trail sneakers' }],
    ]);
    const detail = (await me.call(getCampaign, { params: { id: campaign.body.id } })).body;
    expect(detail).toMatchObject({
      ...campaign.body,
      ads: [],
      latest_validation: { status: 'error', checks: [{ code: 'no_ads' }] },
    });
    expect(detail.target.include).toEqual({ group_ids: [], location_ids: [], tags: [] });

    const refreshed = await client.call(refreshSession, { body: { refresh_token: session.refresh_token } });
    expect(Object.keys(refreshed.body).sort()).toEqual(['access_token', 'refresh_token']);
    const again = await client.call(refreshSession, { body: { refresh_token: session.refresh_token } });
    expect(again.problem?.kind).toBe('unauthorized');
  });

  test('logout invalidates the refresh token, but not another session of the same person', async () => {
    const { email, session } = await newOwner(on());
    const other = (await on().client.call(login, { body: { email, password } })).body as z.output<typeof Session>;
    const left = await on().client.with({ token: session.access_token }).call(logout);
    expect(left.status).toBe(204);
    const dead = await on().client.call(refreshSession, { body: { refresh_token: session.refresh_token } });
    expect(dead.status).toBe(401);
    const alive = await on().client.call(refreshSession, { body: { refresh_token: other.refresh_token } });
    expect(alive.status).toBe(200);
  });

  test('a new account automatically gets one group and one billing record', async () => {
    const { client, account_id } = await newOwner(on());
    await eventually(async () => {
      const groups = (await client.call(listGroups)).body.entries;
      expect(groups.map((group) => group.name)).toEqual(['Main']);
    });
    const customers = () => on().rows('billing', `SELECT name FROM customers WHERE account_id = '${account_id}'`);
    await eventually(async () => expect(await customers()).toEqual([{ name: 'Ada Lovelace' }]));
    expect((await client.call(getBillingSummary)).body).toEqual({
      account_id,
      provider_customer_id: null,
      credit_balance_cents: 0,
      currency: 'usd',
      active_subscription: null,
    });
    expect((await client.call(listPlanPrices)).body.length).toBeGreaterThan(0);
    expect((await client.call(listUsagePrices)).body.length).toBeGreaterThan(0);
  });

  test('a new group can be the group of a campaign as soon as Campaign has handled its event', async () => {
    const { client } = await newOwner(on());
    const group = (await client.call(createGroup, { body: { name: 'North' } })).body;
    await eventually(async () => {
      const campaign = await client.call(createCampaign, { body: { name: 'Snow boots', group_id: group.id } });
      expect(campaign.body.group_id).toBe(group.id);
    });
  });

  test('an account cannot see resources of another', async () => {
    const one = await newOwner(on());
    const other = await newOwner(on());
    const group = (await one.client.call(createGroup, { body: { name: 'Ours' } })).body;
    const campaign = (await one.client.call(createCampaign, { body: { name: 'Ours' } })).body;

    const location = { group_id: group.id, name: 'Theirs', timezone: 'UTC' };
    expect((await other.client.call(createLocation, { body: location })).problem?.kind).toBe('unprocessable');
    expect((await other.client.call(getCampaign, { params: { id: campaign.id } })).problem?.kind).toBe('not-found');
    expect((await other.client.call(listLedger, { params: { id: one.account_id } })).problem?.kind).toBe('not-found');
    expect((await other.client.call(listCampaigns)).body.data).toEqual([]);
  });

  test('the logs contain no password, code or token of a whole journey', async () => {
    const { email, session } = await newOwner(on());
    const [message = ''] = await on().mailbox.messagesTo(email);
    const code = /^\d{6}$/m.exec(message)?.[0] ?? 'no code';
    await on().client.call(login, { body: { email, password: 'not the password' } });
    const written = await eventually(async () => {
      const text = await on().logged();
      for (const operation of ['verify_email', 'login']) expect(text).toContain(`"operation":"${operation}"`);
      return text;
    });
    for (const secret of [
      password,
      'not the password',
      `"${code}"`,
      session.access_token,
      session.refresh_token,
      email,
    ]) {
      expect(written).not.toContain(secret);
    }
  });

  test('a location that is made with coordinates alone has their time zone, and a context; so has one of a file', async () => {
    const { client } = await newOwner(on());
    const group_id = (await client.call(createGroup, { body: { name: 'Zurich' } })).body.id;
    const body = { group_id, name: 'Bahnhofstrasse', latitude: 47.3686, longitude: 8.5392 };
    const location = (await client.call(createLocation, { body })).body;
    expect(location.timezone).toBe('Europe/Zurich');
    const query = { location_id: location.id, at: '2026-12-25T11:00:00Z' };
    const context = await eventually(async () => (await client.call(contextOf, { query })).body);
    expect(context).toMatchObject({ local_time: '12:00:00', holiday: { type: 'public' }, location_id: location.id });

    const lines = [
      'kind,external_id,parent,name,latitude,longitude',
      'group,AU,,Australia,,',
      'location,S,AU,Harbour,-33.8688,151.2093',
    ];
    await untilImported(client, (await upload(client, `${lines.join('\n')}\n`)).id);
    const { entries } = (await client.call(listLocations)).body;
    expect(entries.find(({ external_id }) => external_id === 'S')?.timezone).toBe('Australia/Sydney');
  });
}

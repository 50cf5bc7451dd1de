import {
  type AuditRecord,
  acceptInvitation,
  type Client,
  createApiKey,
  createCampaign,
  createGroup,
  createInvitation,
  type Endpoint,
  endpoints,
  exchangeApiKey,
  exportEstate,
  isRecorded,
  listAuditLog,
  login,
  type Session,
  updateCampaign,
  updateUser,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import type { z } from 'zod';
import { fromSomewhere, newEmail, newOwner, type Platform, password } from '../support-platform.ts';

/** Who did it: the audit log of an account, whichever service did it. */
export function auditJourney(on: () => Platform): void {
  const recordsOf = async (owner: Client, query: object) =>
    (await owner.call(listAuditLog, { query: { limit: 200, ...query } })).body.entries;

  /** May only read campaigns. */
  async function newVisitor(owner: Client) {
    const email = newEmail();
    await owner.call(createInvitation, { body: { email } });
    const body = { token: await on().mailbox.tokenFor(email), full_name: 'Grace Hopper', password };
    const anyone = on().client.with({ headers: fromSomewhere() });
    const { user } = (await anyone.call(acceptInvitation, { body })).body as z.output<typeof Session>;
    await owner.call(updateUser, { params: { id: user.id }, body: { services: { campaign: 'r' } } });
    const { access_token } = (await anyone.call(login, { body: { email, password } })).body as z.output<typeof Session>;
    return { id: user.id, client: on().client.with({ token: access_token }) };
  }

  async function newReader(owner: Client) {
    const key = (await owner.call(createApiKey, { body: { name: 'Reader' } })).body;
    const headers = { 'x-access-key-id': key.access_key_id, 'x-access-key-secret': key.access_key_secret };
    const anyone = on().client.with({ headers: fromSomewhere() });
    const { access_token } = (await anyone.call(exchangeApiKey, { headers })).body;
    return { id: key.id, client: on().client.with({ token: access_token }) };
  }

  const recorded = endpoints.filter(isRecorded);
  const ask = (client: Client, endpoint: Endpoint) =>
    client.call(endpoint, { params: { id: newId('group') }, ...(endpoint.body && { body: {} }) } as never);

  test('a write in any service and an export are in the log, with who, where from, both request ids and what changed', async () => {
    const { client, session } = await newOwner(on());
    const headers = { ...fromSomewhere(), 'x-request-id': 'one-of-my-own' };
    const owner = client.with({ headers });
    const group = (await owner.call(createGroup, { body: { name: 'A name that stays out of it' } })).body;
    const campaign = (await owner.call(createCampaign, { body: { name: 'Boots' } })).body;
    await owner.call(updateCampaign, { params: { id: campaign.id }, body: { name: 'Boots', priority: 3 } });
    await owner.call(exportEstate);
    const actions = ['create_group', 'create_campaign', 'update_campaign', 'export_estate'];
    const found = await eventually(async () => {
      const all = (await recordsOf(client, { actor: session.user.id })).filter(({ action }) =>
        actions.includes(action),
      );
      expect(all.map(({ action }) => action).toSorted()).toEqual(actions.toSorted());
      return all;
    });
    for (const record of found)
      expect(record).toMatchObject({
        outcome: 'done',
        actor: { type: 'person', id: session.user.id },
        ip: headers['x-forwarded-for'],
        request_id: 'one-of-my-own',
      });
    expect(new Set(found.map(({ platform_request_id: id }) => id)).size).toBe(4);
    const of = (action: string) => found.find((record) => record.action === action);
    expect(of('create_group')?.subject).toEqual({ type: 'group', id: group.id });
    expect(of('update_campaign')).toMatchObject({
      subject: { type: 'campaign', id: campaign.id },
      details: { changed: ['priority'] },
    });
    expect(JSON.stringify(found)).not.toContain('A name that stays out of it');
    const id = of('create_group')?.platform_request_id;
    await eventually(async () => expect(await on().logged()).toContain(`"platform_request_id":"${id}"`));
  });

  test('each refused call of every endpoint that writes is in the log once, whoever refuses it, and nothing of it is done', async () => {
    const { client } = await newOwner(on());
    for (const caller of [await newVisitor(client), await newReader(client)]) {
      const refused: string[] = [];
      for (const endpoint of recorded) {
        const { status } = await ask(caller.client, endpoint);
        if (status === 403) refused.push(endpoint.operation);
      }
      expect(refused.length).toBeGreaterThan(30);
      const found = await eventually(async () => {
        const all: z.output<typeof AuditRecord>[] = await recordsOf(client, { actor: caller.id });
        const ofRefusals = all.filter(({ outcome }) => outcome === 'refused');
        expect(ofRefusals.map(({ action }) => action).toSorted()).toEqual(refused.toSorted());
        return all;
      });
      const done = found.filter(({ outcome }) => outcome === 'done').map(({ action }) => action);
      expect(done.filter((action) => refused.includes(action))).toEqual([]);
    }
  });
}

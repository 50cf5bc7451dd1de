import {
  type Client,
  createCampaign,
  createClient,
  createGroup,
  getCampaign,
  listGroups,
  listPlans,
  type Session,
  signup,
  verifyEmail,
} from '@attribution/contracts';
import { createTestDatabase, eventually, openMailbox, type TestDatabase, testParts } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { type Fleet, startFleet } from '../faults/fleet.ts';
import { fromSomewhere, newEmail, password } from './support.ts';

const brokers = testParts.kafkaBrokers();
const redis = testParts.redisUrl();
const fleet = brokers && redis ? describe : describe.skip;

fleet('a fleet: one process a service, two of account and two gateways, over Kafka and Redis', () => {
  const databases: TestDatabase[] = [];
  let running: Fleet;

  beforeAll(async () => {
    running = await startFleet({
      kafkaBrokers: brokers ?? [],
      redisUrl: redis,
      replicas: { account: 2 },
      gateways: 2,
      async database(service) {
        const database = await createTestDatabase(service);
        databases.push(database);
        return database.url;
      },
    });
  });

  afterAll(async () => {
    await running.stop();
    await Promise.all(databases.map((database) => database.drop()));
  });

  const api = (index: number) =>
    createClient({ baseUrl: running.gateways[index]?.url ?? '', headers: fromSomewhere() });

  async function newOwner(): Promise<Client> {
    const email = newEmail();
    await api(0)
      .call(signup, { body: { email, password, full_name: 'Ada' } })
      .then((answer) => answer.body);
    const code = await openMailbox(running.mailDirectory).codeFor(email);
    const session = (await api(1).call(verifyEmail, { body: { email, code } })).body as z.output<typeof Session>;
    return api(1).with({ token: session.access_token });
  }

  test('a sign-up at one gateway is a session at the other, and its events reach every service', async () => {
    const owner = await newOwner();
    await eventually(async () => expect((await owner.call(listGroups)).body.entries).toHaveLength(1), 25_000);
    const group = (await owner.call(createGroup, { body: { name: 'North' } })).body;
    const campaign = await eventually(async () => {
      const answer = await owner.call(createCampaign, { body: { name: 'Boots', group_id: group.id } });
      return answer.body;
    }, 25_000);
    expect((await owner.call(getCampaign, { params: { id: campaign.id } })).body.group_id).toBe(group.id);
  });

  test('a service that is gone is a 502, and the gateway says that it is not healthy', async () => {
    const owner = await newOwner();
    expect(await running.services.account[1]?.end('SIGTERM')).toBe(0);
    const answer = await owner.call(listPlans);
    expect(answer.problem).toMatchObject({ status: 502, kind: 'upstream-error' });
    expect(answer.problem?.detail).not.toMatch(/127|ECONN/);
    await eventually(async () => {
      const health = await fetch(`${running.gateways[1]?.url}/healthz`);
      expect([health.status, await health.text()]).toEqual([503, expect.stringContaining('account')]);
    });
    expect((await fetch(`${running.gateways[0].url}/healthz`)).status).toBe(200);
  });

  // A process that is not done after ten seconds ends itself with 1.
  test('SIGTERM ends every process in time, with 0', async () => {
    expect(await running.stop()).toEqual(running.members.map(() => 0));
  });
});

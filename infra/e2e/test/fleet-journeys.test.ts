import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  createCampaign,
  createClient,
  createGroup,
  estateKinds,
  getCampaign,
  listGroups,
  type Session,
  signup,
  verifyEmail,
} from '@attribution/contracts';
import { registeredNames } from '@attribution/registry';
import { eventually, testServers } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { accountJourneys } from './journeys/account.ts';
import { auditJourney } from './journeys/audit.ts';
import { billingJourneys } from './journeys/billing.ts';
import { campaignJourney } from './journeys/campaign.ts';
import { deviceJourneys } from './journeys/devices.ts';
import { chainJourneys } from './journeys/estate-chain.ts';
import { narrowedJourneys } from './journeys/estate-narrowed.ts';
import { foreignIdJourneys } from './journeys/foreign-ids.ts';
import { limitJourneys } from './journeys/limits.ts';
import { machineJourney } from './journeys/machine.ts';
import { peopleJourney } from './journeys/people.ts';
import { readmeWalk } from './journeys/readme.ts';
import { siteJourneys } from './journeys/site.ts';
import { type FleetProgram, startFleetProgram } from './support-fleet.ts';
import { startFollower, wholeEstate } from './support-followers.ts';
import { fromSomewhere, newEmail, password } from './support-platform.ts';

const whole = testServers.kafkaBrokers() && testServers.redisUrl() ? describe : describe.skip;

// Tests that need weeks to pass (billing-journey.test.ts) or a truncated topic (late-consumer.test.ts) are elsewhere, because
// a fleet's clock cannot be set, and its own consumers need the topics.
whole('npm run fleet, two replicas of each process, on Postgres, Kafka and Redis', () => {
  let fleet: FleetProgram;
  beforeAll(async () => {
    fleet = await startFleetProgram(2);
  });
  afterAll(() => fleet?.remove());
  const on = () => fleet;

  test('every process is ready, and only workers check the broker', async () => {
    const processes = await fleet.processes();
    const edges = ['gateway', 'ingress'];
    expect(processes).toHaveLength(2 * (registeredNames.length * 2 + edges.length));
    for (const { url, service, role } of processes) {
      const checks = { api: ['database'], worker: ['database', 'broker'] }[role];
      await eventually(async () => {
        const answer = (await (await fetch(`${url}/readyz`)).json()) as { checks?: string[] };
        if (!edges.includes(service)) expect(answer.checks).toEqual(checks);
      });
    }
  });

  test('a sign-up at one gateway is a session at the other, and its events reach every service', async () => {
    const gateways = (await fleet.processes()).filter(({ service }) => service === 'gateway');
    const at = (index: number) => createClient({ baseUrl: gateways[index]?.url ?? '', headers: fromSomewhere() });
    const email = newEmail();
    await at(0).call(signup, { body: { email, password, full_name: 'Ada' } });
    const code = await fleet.mailbox.codeFor(email);
    const session = (await at(1).call(verifyEmail, { body: { email, code } })).body as z.output<typeof Session>;
    const owner = at(1).with({ token: session.access_token });
    await eventually(async () => expect((await owner.call(listGroups)).body.entries).toHaveLength(1));
    const group = (await owner.call(createGroup, { body: { name: 'North' } })).body;
    const campaign = await eventually(
      async () => (await owner.call(createCampaign, { body: { name: 'Boots', group_id: group.id } })).body,
    );
    expect((await owner.call(getCampaign, { params: { id: campaign.id } })).body.group_id).toBe(group.id);
  });

  readmeWalk(on);
  siteJourneys(on);
  accountJourneys(on);
  peopleJourney(on);
  machineJourney(on);
  auditJourney(on);
  // More than two gateways would let in if they counted successes. A fleet hashes passwords at their real cost.
  limitJourneys(on, { successes: 12 });
  describe('ids of other accounts', () => foreignIdJourneys(on));
  describe('narrowed callers', () => narrowedJourneys(on));
  chainJourneys(on, { locations: 500 });
  billingJourneys(on);
  campaignJourney(on);
  deviceJourneys(on);

  test('a service that handles all events of the estate has the same rows as Organization', async () => {
    const follower = await startFollower('events', fleet.kafka);
    const inside = fleet.inside('organization', 'campaign');
    await eventually(async () => {
      await sleep(500);
      const [followed, whole] = [await follower.rows(), await wholeEstate(inside)];
      // Not with expect, which would format the difference of tens of thousands of rows.
      for (const kind of estateKinds) expect([kind, followed[kind].length]).toEqual([kind, whole[kind].length]);
      expect(isDeepStrictEqual(followed, whole)).toBe(true);
    }).finally(() => follower.stop());
  });

  test('after the journeys no process has ended, there are no dead letters, and all ledgers agree', async () => {
    expect(fleet.output()).not.toMatch(/ ended \(/);
    const lines = async (...words: string[]) => (await fleet.ops(...words)).trimEnd().split('\n');
    expect((await lines('dead-letters', 'list')).toSorted()).toEqual(
      registeredNames.map((name) => `${name}: no dead letters`).toSorted(),
    );
    for (const line of await lines('ledgers')) expect(line).toMatch(/: no difference$/);
  });

  test('a killed worker is restarted, and the other replica does its work meanwhile', async () => {
    const find = async () => (await fleet.processes()).find(({ name }) => name === 'account-worker-1');
    const { pid = 0, url = '' } = (await find()) ?? {};
    process.kill(pid, 'SIGKILL');
    const email = newEmail();
    const body = { email, password, full_name: 'Grace Hopper' };
    expect((await fleet.client.with({ headers: fromSomewhere() }).call(signup, { body })).status).toBe(202);
    expect(await fleet.mailbox.codeFor(email)).toMatch(/^\d{6}$/);
    await eventually(async () => expect((await find())?.pid).not.toBe(pid));
    expect(fleet.output()).toContain('account-worker-1 ended (SIGKILL); starting it again');
    await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));
  });

  test('when stopped, the fleet and all its processes exit with 0', async () => {
    const pids = [...(await fleet.processes()).map(({ pid }) => pid), fleet.postgres];
    const status = await fleet.stop();
    expect(fleet.output()).toContain('Stopped. All data stay');
    expect(fleet.output()).not.toContain('did not stop in time'); // It names them.
    expect(status).toBe(0);
    // An api and a worker of each service, the gateway and the ingress; and Postgres.
    expect(pids).toHaveLength(2 * (registeredNames.length * 2 + 2) + 1);
    for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

import { getCampaignLift, sendPlays } from '@attribution/contracts';
import { chanceFrom, itemsOf, makeWorld, plantedWindow, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { liftOf, sumClusters } from '../src/statistics/index.ts';
import { addressesOf, batch, newWorld, startEvents } from './support.ts';
import { sendPast, upToDate } from './support-figures.ts';
import { type Owners, startOwners } from './support-owners.ts';

let service: TestService;
let owners: Owners;
beforeAll(async () => {
  owners = await startOwners();
  service = await startEvents(addressesOf(owners));
});
afterAll(async () => {
  await service.stop();
  owners.stop();
});

test('the lift of a world that a device tells of is that of the visitors, conversions and hours that were planted', async () => {
  const [chain, chance] = [newWorld(), chanceFrom(6)];
  await chain.tell(service);
  const world = makeWorld(chance, { correlation: 0.05, controlHours: 20, lift: 30 });
  const { location, zone, screen, ad } = chain;
  const stage = { location_id: location.id, timezone: location.timezone, zone_id: zone.id, screen_id: screen.id };
  const now = service.clock.now().getTime();
  const { visits, plays } = itemsOf(world, { ...stage, campaign_ad_id: ad, version: 2 }, now, chance);
  await sendPast(service, chain, visits);
  const { body: played } = await chain.player(service).call(sendPlays, batch(service, plays, { clock_synced: true }));
  expect(played.accepted).toBe(200);
  await upToDate(service, chain);

  const query = { window: plantedWindow };
  const { body } = await chain.as(service).call(getCampaignLift, { params: { id: chain.campaign }, query });
  const hours = { control: world.control.length, exposed: world.exposed.length };
  const expected = liftOf({
    design: 'holdout',
    exposed: sumClusters(world.exposed),
    control: sumClusters(world.control),
    played: (['control', 'exposed'] as const).map((kind) => ({ kind, holdoutPercent: 10, hours: hours[kind] })),
  });
  expect(expected.reason).toBeNull();
  expect(body).toMatchObject({ ...expected, design: 'holdout', pending_visitors: 0 });
});

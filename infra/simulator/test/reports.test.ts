import { expect, test } from '@jest/globals';
import { createCrowd, createPlayer, heldIn, type Manifest } from '../src/index.ts';
import { createReports } from '../src/reports.ts';

const minute = 60_000;
const zero = Date.parse('2027-03-28T00:00:00.000Z');
const at = (minutes: number) => new Date(zero + minutes * minute).toISOString();

test('a crowd is the same for the same seed, however time is sliced, and some of its people come back', () => {
  const options = { seed: 'SIM-1', from: zero, zoneIds: ['zon_a', 'zon_b'] };
  const visits = createCrowd(options).visitsUntil(zero + 600 * minute);
  const crowd = createCrowd(options);
  const sliced = Array.from({ length: 600 }, (_, n) => crowd.visitsUntil(zero + (n + 1) * minute)).flat();
  const inOrder = (all: typeof visits) => all.toSorted((a, b) => a.entered_at - b.entered_at);
  expect(inOrder(sliced)).toEqual(inOrder(visits));
  expect(visits.length).toBeGreaterThan(1_000);
  expect(new Set(visits.map(({ visitor_key }) => visitor_key)).size).toBeLessThan(visits.length);
  for (const { visitor_key, entered_at, left_at, stays } of visits) {
    expect(visitor_key).toMatch(/^[A-Za-z0-9_-]{16,64}$/);
    expect(left_at).toBeLessThanOrEqual(zero + 600 * minute);
    const [first, last] = [stays.at(0), stays.at(-1)];
    expect([first?.entered_at, last?.left_at]).toEqual([entered_at, left_at]);
    expect(first?.left_at).toBe(last?.entered_at);
  }
});

test('in its holdouts the ads of a campaign are held, on the screens that play it otherwise', () => {
  const item = (campaign_ad_id: string, campaign_id: string) => ({
    ...{ campaign_ad_id, campaign_id, version: 2, sha256: 'x', duration_ms: minute, not_before: null, not_after: null },
  });
  const slots = (...campaign_ad_ids: string[]) => [{ start_at: at(10), end_at: null, campaign_ad_ids }];
  const manifest: Manifest = {
    ...{ schema_version: 1, device_id: 'dev', version: 1, covers_from: at(0), covers_to: at(2_880), files: [] },
    items: [item('a', 'held'), item('b', 'shown')],
    screens: [
      { screen_id: 'first', output: '1', slots: slots('a', 'b') },
      { screen_id: 'second', output: '2', slots: slots('b') },
    ],
    holdouts: [{ campaign_id: 'held', start_at: at(0), end_at: at(3) }],
  };
  const [held] = heldIn(manifest).values();
  const heldOn = (screen: string) => held && createPlayer(screen, zero).playUntil(zero + 10 * minute, held, () => true);
  expect(heldOn('first')).toMatchObject([0, 1, 2].map((n) => ({ campaign_ad_id: 'a', started_at: zero + n * minute })));
  expect(heldOn('second')).toEqual([]);
  expect(heldIn({ ...manifest, holdouts: [] }).size).toBe(0);
});

test('what a device reports stays, with its ids, until it is answered, and goes in batches', async () => {
  const reports = createReports();
  for (let n = 0; n < 700; n++)
    reports.addPlay({
      ...{ screen_id: 'scr', campaign_ad_id: 'cad', version: 1, completed: true },
      ...{ started_at: zero + n, ended_at: zero + n + 1 },
    });
  reports.addVisit({ visitor_key: 'k', entered_at: zero, left_at: zero + minute, stays: [] }, 'loc');
  const sent: object[][] = [];
  let isAway = true;
  const take = async (items: readonly object[]) => {
    sent.push([...items]);
    if (isAway) throw new Error('No answer');
    return { accepted: items.length, duplicates: 0, rejected: [] };
  };
  const client = { plays: take, visits: take };
  await expect(reports.send(client)).rejects.toThrow('No answer');
  isAway = false;
  expect(await reports.send(client)).toEqual({ plays: 500, visits: 1, rejected: 0 });
  expect(await reports.send(client)).toEqual({ plays: 200, visits: 0, rejected: 0 });
  expect(await reports.send(client)).toEqual({ plays: 0, visits: 0, rejected: 0 });
  const [lost, again, visits, rest] = sent;
  expect(again).toEqual(lost);
  expect(visits).toMatchObject([
    { visitor_key: 'k', location_id: 'loc', entered_at: at(0), left_at: at(1), zones: [] },
  ]);
  const ids = [...(again ?? []), ...(rest ?? [])].map((item) => (item as { event_id: string }).event_id);
  expect(new Set(ids).size).toBe(700);
});

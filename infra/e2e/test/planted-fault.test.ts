import { expect, test } from '@jest/globals';
import { type Crash, crash } from '../faults/crash/crash.ts';
import { openOneProcess } from '../faults/crash/worlds/one-process.ts';
import { chanceFrom } from '../faults/random.ts';

const seed = 20_261_121;

/** Kills at two points, the same each time, on the product or with a fault planted into it. */
async function kill(fault?: string): Promise<Crash> {
  const url = new URL(`../faults/crash/planted/${fault}.process.ts`, import.meta.url);
  const world = await openOneProcess(fault === undefined ? [] : [`--import=${url.href}`]);
  const chance = chanceFrom(seed);
  const plan = new Map([
    [
      world.victims[0],
      [
        { point: 'mid-batch', at: chance.int(1, 3), of: 'groups' },
        { point: 'after the relay claims', at: chance.int(1, 3), of: 'account.created' },
      ] as const,
    ],
  ]);
  return crash(world, { plan, seed, say: () => {}, within: 6_000 });
}

test('the product passes what the planted faults fail', async () => {
  expect(await kill()).toMatchObject({ kills: 2, lost: 0, doubled: 0, reordered: 0, torn: 0, holds: true });
});

test('an effect outside its transaction is found to be done twice', async () => {
  const { kills, doubled, torn, holds } = await kill('effect-outside');
  expect({ kills, holds }).toEqual({ kills: 2, holds: false });
  expect(doubled).toBeGreaterThan(0);
  expect(torn).toBeGreaterThan(0);
});

test('an event that leaves the outbox before it is published is found to be lost', async () => {
  const { kills, lost, holds } = await kill('removed-before-publishing');
  expect({ kills, holds }).toEqual({ kills: 2, holds: false });
  expect(lost).toBeGreaterThan(0);
});

test('a state that a projection does not take is found to be lost', async () => {
  const { kills, lost, doubled, holds } = await kill('projection-unwritten');
  expect({ kills, doubled, holds }).toEqual({ kills: 2, doubled: 0, holds: false });
  expect(lost).toBeGreaterThan(0);
});

import { type Chance, chanceFrom } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { type Crash, crash } from '../faults/crash/crash.ts';
import type { Round } from '../faults/crash/kill/rounds.ts';
import { openOneProcess } from '../faults/crash/worlds/one-process.ts';

const seed = 20_261_121;

type Rounds = (chance: Chance) => readonly Round[];

/** Kills while events are being delivered; and, for `keys`, after a commit whose response is lost, so that the client retries. */
const events: Rounds = (chance) => [
  { point: 'mid-batch', pass: chance.int(1, 3), subject: 'groups' },
  { point: 'after the relay claims', pass: chance.int(1, 3), subject: 'account.created' },
];
const keys: Rounds = (chance) => [{ point: 'after commit', pass: chance.int(1, 3), subject: 'idempotency_keys' }];

/** Kills the product, optionally with a planted fault, at the same points each time. */
async function kill(rounds: Rounds, fault?: string): Promise<Crash> {
  const url = new URL(`../faults/crash/planted/${fault}.process.ts`, import.meta.url);
  const world = await openOneProcess(fault === undefined ? [] : [`--import=${url.href}`]);
  const plan = new Map([[world.victims[0], rounds(chanceFrom(seed))]]);
  return crash(world, { plan, seed, say: () => {}, timeoutMs: 6_000 });
}

test('the product without a fault passes the checks', async () => {
  const all: Rounds = (chance) => [...events(chance), ...keys(chance)];
  expect(await kill(all)).toMatchObject({ kills: 3, lost: 0, doubled: 0, reordered: 0, torn: 0, holds: true });
});

test('duplicated requests are found if idempotency keys are not stored', async () => {
  const { kills, doubled, holds } = await kill(keys, 'keys-forgotten');
  expect({ kills, holds }).toEqual({ kills: 1, holds: false });
  expect(doubled).toBeGreaterThan(0);
});

test('duplicated effects are found if an effect is outside its transaction', async () => {
  const { kills, doubled, torn, holds } = await kill(events, 'effect-outside');
  expect({ kills, holds }).toEqual({ kills: 2, holds: false });
  expect(doubled).toBeGreaterThan(0);
  expect(torn).toBeGreaterThan(0);
});

test('lost events are found if they leave the outbox before they are published', async () => {
  const { kills, lost, holds } = await kill(events, 'removed-before-publishing');
  expect({ kills, holds }).toEqual({ kills: 2, holds: false });
  expect(lost).toBeGreaterThan(0);
});

test('lost states are found if a projection skips them', async () => {
  const { kills, lost, doubled, holds } = await kill(events, 'projection-unwritten');
  expect({ kills, doubled, holds }).toEqual({ kills: 2, doubled: 0, holds: false });
  expect(lost).toBeGreaterThan(0);
});

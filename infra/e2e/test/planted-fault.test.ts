import { type Chance, chanceFrom } from '@attribution/testing';
import { beforeAll, expect, test } from '@jest/globals';
import { type Crash, crash } from '../faults/crash/crash.ts';
import type { Round } from '../faults/crash/kill/rounds.ts';
import { openOneProcess } from '../faults/crash/worlds/one-process.ts';

const seed = 20_261_121;

type Rounds = (chance: Chance) => readonly Round[];

/** A kill while a batch of events takes effect, or while events are published. */
const midBatch: Rounds = (chance) => [{ point: 'mid-batch', pass: chance.int(1, 3), subject: 'groups' }];
const claims: Rounds = (chance) => [
  { point: 'after the relay claims', pass: chance.int(1, 3), subject: 'account.created' },
];
/** A kill after a commit whose response is lost, so that the client retries. */
const keys: Rounds = (chance) => [{ point: 'after commit', pass: chance.int(1, 3), subject: 'idempotency_keys' }];

/** Kills the product, optionally with a planted fault, at the same points each time. */
async function kill(rounds: Rounds, fault?: string): Promise<Crash> {
  const url = new URL(`../faults/crash/planted/${fault}.process.ts`, import.meta.url);
  const world = await openOneProcess(fault === undefined ? [] : [`--import=${url.href}`]);
  const plan = new Map([[world.victims[0], rounds(chanceFrom(seed))]]);
  // Events that a fault has lost never come. The product without a fault has all the time that it needs.
  return crash(world, { plan, seed, say: () => {}, ...(fault !== undefined && { timeoutMs: 6_000 }) });
}

const planned = {
  /** The other points, without a fault: the short form of `crash one process`. */
  nothing: () => kill(midBatch),
  'keys-forgotten': () => kill(keys, 'keys-forgotten'),
  'effect-outside': () => kill(midBatch, 'effect-outside'),
  'removed-before-publishing': () => kill(claims, 'removed-before-publishing'),
  'projection-unwritten': () => kill(midBatch, 'projection-unwritten'),
};
type Planted = keyof typeof planned;
const crashes = {} as Record<Planted, Crash>;

/** Two platforms at a time, because each spends much of its time waiting. */
beforeAll(async () => {
  const waiting = Object.keys(planned) as Planted[];
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) crashes[next] = await planned[next]();
  };
  await Promise.all([lane(), lane()]);
});

test('the product without a fault passes the checks', () => {
  expect(crashes.nothing).toMatchObject({ kills: 1, lost: 0, doubled: 0, reordered: 0, torn: 0, holds: true });
});

test('duplicated requests are found if idempotency keys are not stored', () => {
  const { kills, doubled, holds } = crashes['keys-forgotten'];
  expect({ kills, holds }).toEqual({ kills: 1, holds: false });
  expect(doubled).toBeGreaterThan(0);
});

test('duplicated effects are found if an effect is outside its transaction', () => {
  const { kills, doubled, torn, holds } = crashes['effect-outside'];
  expect({ kills, holds }).toEqual({ kills: 1, holds: false });
  expect(doubled).toBeGreaterThan(0);
  expect(torn).toBeGreaterThan(0);
});

test('lost events are found if they leave the outbox before they are published', () => {
  const { kills, lost, holds } = crashes['removed-before-publishing'];
  expect({ kills, holds }).toEqual({ kills: 1, holds: false });
  expect(lost).toBeGreaterThan(0);
});

test('lost states are found if a projection skips them', () => {
  const { kills, lost, doubled, holds } = crashes['projection-unwritten'];
  expect({ kills, doubled, holds }).toEqual({ kills: 1, doubled: 0, holds: false });
  expect(lost).toBeGreaterThan(0);
});

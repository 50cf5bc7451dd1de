import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '@attribution/bench';
import { archiveCampaign, publishCampaign } from '@attribution/contracts';
import { sha256Of } from '../../upload.ts';
import { done } from '../done.ts';
import type { Experiment, Finding, Lab } from '../experiment.ts';
import { askEveryMs, beatEveryMs, type Way } from '../screens/devices.ts';
import { openOnePlatform, openProcesses, type ScreenGround } from '../screens/grounds.ts';
import { type Draft, openShop, type Shop } from '../screens/shop.ts';

const rounds = { short: 5, long: 200 };
const limitMs = 5_000;
/** Shops in which a campaign is published at the same time, at most. */
const shopsAtOnce = 10;

const wayNames = {
  asking: `a device that asks every ${askEveryMs / 1000} s`,
  waiting: `a device that is told by a heartbeat, one every ${beatEveryMs / 1000} s`,
} satisfies Record<Way, string>;
const bothWays: readonly Way[] = ['asking', 'waiting'];

/** What was measured of a way, in milliseconds after the answer to the owner. */
interface Times {
  readonly published: number[];
  readonly archived: number[];
  /** What is wrong with the files. */
  readonly wrong: string[];
}

/** A campaign is published, and archived: how soon is it on a screen, with its file, and how soon is it gone? */
export const publishOne: Experiment = {
  name: 'publish to screen one process',
  rounds,
  run: async (lab) => publishAll('one process', await openOnePlatform(), lab),
};

/** The same on the processes of docker-compose.yml, which tell each other over Kafka. */
export const publishFleet: Experiment = {
  name: 'publish to screen fleet',
  rounds,
  needs: ['kafka', 'redis'],
  run: async (lab) => publishAll('fleet', await openProcesses(lab.say), lab),
};

async function publishAll(where: string, ground: ScreenGround, lab: Lab): Promise<Finding[]> {
  const directory = await mkdtemp(join(tmpdir(), 'screens-'));
  const count = Math.min(shopsAtOnce, lab.rounds);
  const shops: Shop[] = [];
  const times: Record<Way, Times> = {
    asking: { published: [], archived: [], wrong: [] },
    waiting: { published: [], archived: [], wrong: [] },
  };
  try {
    for (let n = 0; n < count; n++) shops.push(await openShop(ground, directory, Math.ceil((lab.rounds - n) / count)));
    lab.say(`  ${count} shops, with ${lab.rounds} campaigns to be published`);
    await Promise.all(shops.map((shop) => publishIn(shop, times, lab)));
    return bothWays.flatMap((way) => findingsOf(where, way, times[way]));
  } finally {
    await Promise.all(shops.flatMap(({ devices }) => bothWays.map((way) => devices[way].off())));
    await ground.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function publishIn(shop: Shop, times: Record<Way, Times>, { chance }: Lab): Promise<void> {
  const { owner, drafts, devices } = shop;
  const anyTime = () => sleep(chance.int(0, askEveryMs));
  for (const draft of drafts) {
    const params = { id: draft.id };
    await anyTime();
    await done(owner.call(publishCampaign, { params }));
    const published = performance.now();
    for (const way of bothWays) times[way].published.push(await waited(shop, way, draft, true, published));
    for (const way of bothWays) {
      const wrong = await faultOfFile(devices[way], draft);
      if (wrong !== undefined) times[way].wrong.push(wrong);
    }
    await anyTime();
    await done(owner.call(archiveCampaign, { params }));
    const archived = performance.now();
    for (const way of bothWays) times[way].archived.push(await waited(shop, way, draft, false, archived));
  }
}

/** Infinity if it never came to that. A device may have asked just before the owner read the answer. */
async function waited({ devices }: Shop, way: Way, { campaignAd }: Draft, isShown: boolean, since: number) {
  const at = await devices[way].until(campaignAd, isShown);
  return at === undefined ? Number.POSITIVE_INFINITY : Math.max(0, at - since);
}

/** Reads the file of the device once more. */
async function faultOfFile({ folder, fileOf }: Shop['devices'][Way], { campaignAd, sha256 }: Draft) {
  const name = fileOf(campaignAd);
  if (name !== sha256) return `the manifest has file ${name}`;
  const read = sha256Of(await readFile(join(folder, name)));
  return read === sha256 ? undefined : `the file is ${read}`;
}

function findingsOf(where: string, way: Way, { published, archived, wrong }: Times): Finding[] {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  const told = (times: readonly number[]) =>
    `p50 ${seconds(quantile(times, 0.5))}, p99 ${seconds(quantile(times, 0.99))}, slowest ${seconds(Math.max(...times))}`;
  const finding = (what: string, times: readonly number[], more: string, holds: boolean): Finding => ({
    what: `${what}, ${wayNames[way]}, ${where}`,
    tried: times.length,
    found: told(times) + more,
    bar: `p99 ≤ ${seconds(limitMs)}`,
    holds: holds && times.length > 0 && quantile(times, 0.99) <= limitMs,
  });
  const files = `; ${published.length - wrong.length} of ${published.length} files are what was uploaded`;
  return [
    finding('From publishing to a screen with the file checked', published, files, wrong.length === 0),
    finding('From archiving to a screen without the ad', archived, '', true),
  ];
}

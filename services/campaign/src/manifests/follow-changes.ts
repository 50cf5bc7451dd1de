import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@attribution/database';
import type { Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { isEstateRead } from '../estate/index.ts';
import type { CampaignDatabase } from '../store.ts';
import { spreadChangedCampaigns, takeChangedDevices } from './changed-device.store.ts';
import { findDue } from './device-manifest.store.ts';
import { paces, restAfter } from './paces.ts';
import { refreshManifests } from './refresh.ts';

interface Dependencies {
  readonly database: CampaignDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** A version is due within 10 s of its cause. */
const everyMs = 1_000;

/** Devices whose manifests are made in one go: few enough that others get their turn in milliseconds. */
const devicesAtOnce = 20;
const campaignsAtOnce = 5;

/** The job that follows what changes manifests: placements, the estate, and time. */
export const followManifestChanges = ({ database, ...dependencies }: Dependencies) => ({
  name: 'manifests',
  every: everyMs,
  async run(stopping: AbortSignal): Promise<void> {
    if (!(await isEstateRead(database.sql))) return;
    const refresh = (find: (tx: Sql) => Promise<string[]>) =>
      database.sqlTransaction(async (tx) => {
        const devices = await find(tx);
        if (devices.length > 0) await refreshManifests(tx, devices, dependencies);
        return devices.length;
      });
    const steps = [
      { pace: paces.caused, take: () => database.sqlTransaction((tx) => spreadChangedCampaigns(tx, campaignsAtOnce)) },
      { pace: paces.caused, take: () => refresh((tx) => takeChangedDevices(tx, devicesAtOnce)) },
      { pace: paces.due, take: () => refresh((tx) => findDue(tx, dependencies.clock.now(), devicesAtOnce)) },
    ];
    /** What somebody changed does not wait for all that midnight has changed: each time the first step with work is taken. */
    async function takeOne(): Promise<boolean> {
      for (const { pace, take } of steps) {
        const began = performance.now();
        if ((await take()) === 0) continue;
        await sleep(restAfter(began, pace), undefined, { ref: false });
        return true;
      }
      return false;
    }
    while (!stopping.aborted && (await takeOne()));
  },
});

import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from '@attribution/database';
import type { Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { isEstateRead } from '../estate/index.ts';
import type { CampaignDatabase } from '../store.ts';
import { spreadChangedCampaigns, takeChangedDevices } from './changed-device.store.ts';
import { findDue } from './device-manifest.store.ts';
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

/**
 * Of the time, at most half goes to what somebody changed, and a quarter to what time changes: midnight changes many at once,
 * and whoever asks for one of these gets it without this job.
 */
const restPerWork = { caused: 1, due: 3 };

/** Takes a step, which resolves to how much it did, until there is nothing left to do. */
async function repeat(stopping: AbortSignal, rest: number, step: () => Promise<number>): Promise<void> {
  for (let done = 1; done > 0 && !stopping.aborted; ) {
    const began = performance.now();
    done = await step();
    if (done > 0) await sleep((performance.now() - began) * rest, undefined, { ref: false });
  }
}

/** The job that follows what changes manifests: placements, the estate, and time. */
export const followManifestChanges = ({ database, ...dependencies }: Dependencies) => ({
  name: 'manifests',
  every: everyMs,
  async run(stopping: AbortSignal): Promise<void> {
    const refresh = (find: (tx: Sql) => Promise<string[]>) =>
      database.sqlTransaction(async (tx) => {
        const devices = await find(tx);
        if (devices.length > 0) await refreshManifests(tx, devices, dependencies);
        return devices.length;
      });
    if (!(await isEstateRead(database.sql))) return;
    const { caused, due } = restPerWork;
    await repeat(stopping, caused, () => database.sqlTransaction((tx) => spreadChangedCampaigns(tx, campaignsAtOnce)));
    await repeat(stopping, caused, () => refresh((tx) => takeChangedDevices(tx, devicesAtOnce)));
    await repeat(stopping, due, () => refresh((tx) => findDue(tx, dependencies.clock.now(), devicesAtOnce)));
  },
});

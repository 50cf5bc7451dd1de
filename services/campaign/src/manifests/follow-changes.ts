import { setTimeout as sleep } from 'node:timers/promises';
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

/** Of the time, at most half goes to manifests, also where midnight changes many. */
const restPerWork = 1;

/** The job that follows what changes manifests: placements, the estate, and time. */
export const followManifestChanges = ({ database, ...dependencies }: Dependencies) => ({
  name: 'manifests',
  every: everyMs,
  async run(stopping: AbortSignal): Promise<void> {
    if (!(await isEstateRead(database.sql))) return;
    const steps = [
      () => database.sqlTransaction((tx) => spreadChangedCampaigns(tx, campaignsAtOnce)),
      () =>
        database.sqlTransaction(async (tx) => {
          const devices = await takeChangedDevices(tx, devicesAtOnce);
          if (devices.length > 0) await refreshManifests(tx, devices, dependencies);
          return devices.length;
        }),
      () =>
        database.sqlTransaction(async (tx) => {
          const devices = await findDue(tx, dependencies.clock.now(), devicesAtOnce);
          if (devices.length > 0) await refreshManifests(tx, devices, dependencies);
          return devices.length;
        }),
    ];
    for (const step of steps)
      for (let done = 1; done > 0 && !stopping.aborted; ) {
        const began = performance.now();
        done = await step();
        if (done > 0) await sleep((performance.now() - began) * restPerWork, undefined, { ref: false });
      }
  },
});

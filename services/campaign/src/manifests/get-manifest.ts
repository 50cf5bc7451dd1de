import { setImmediate as nextTurn } from 'node:timers/promises';
import { getDeviceManifest, Problem } from '@attribution/contracts';
import type { Outbox } from '@attribution/messaging';
import { type Clock, createTurns } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { isEstateRead } from '../estate/index.ts';
import type { CampaignDatabase } from '../store.ts';
import { setOwner } from './device-manifest.store.ts';
import { type DeviceFacts, findFacts } from './facts.store.ts';
import { type FileUrl, viewManifest } from './manifest.view.ts';
import { computeManifest, refreshManifests } from './refresh.ts';

interface Dependencies {
  readonly database: CampaignDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly fileUrl: FileUrl;
}

/** Few at a time, as all devices of a zone may ask at its midnight, and other requests wait for what these take. */
const atOnce = 2;
/** Less than Device waits for an answer. */
const maxWaitMs = 4_000;
/** Of an account. */
const maxWaiting = 1_000;
const busy = () =>
  new Problem('unavailable', 'Many devices ask for their manifests. Try again.', { 'retry-after': '5' });

/** Whether there is none yet, or time may have changed it. It is then made once, under its lock. */
const isDue = ({ last: { version, changes_at } }: DeviceFacts, now: Date) =>
  version === 0 || (changes_at !== null && changes_at <= now);

/** Makes the manifest at each request. Only one that differs from the last is written, with its version. */
export function getManifestEndpoint({ database, outbox, clock, fileUrl }: Dependencies) {
  const turns = createTurns({ total: atOnce, perLane: atOnce, perCaller: 1, maxWaiting, maxWaitMs, busy });

  async function manifestOf(device_id: string, account_id: string | undefined) {
    if (!(await isEstateRead(database.sql))) throw new Problem('unavailable', 'The estate is still being read.');
    const [known] = await findFacts(database.sql, [device_id]);
    if (!known) throw Problem.notFound();
    const newOwner = known.ownerId === account_id ? undefined : account_id;
    if (newOwner === undefined && !isDue(known, clock.now())) {
      await nextTurn();
      const manifest = computeManifest(known, clock.now());
      if (manifest.version === known.last.version) return viewManifest(manifest, fileUrl);
    }
    const [refreshed] = await database.sqlTransaction(async (tx) => {
      if (newOwner !== undefined) await setOwner(tx, device_id, newOwner);
      return refreshManifests(tx, [device_id], { outbox, clock });
    });
    if (!refreshed) throw new Error('A device that was known is known');
    return viewManifest(refreshed, fileUrl);
  }

  return implement(getDeviceManifest, async ({ params: { device_id }, query: { account_id } }) => {
    const endTurn = await turns.take({ lane: account_id ?? 'unknown', caller: device_id });
    try {
      return await manifestOf(device_id, account_id);
    } finally {
      endTurn();
    }
  });
}

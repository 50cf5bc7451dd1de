import { setImmediate as nextTurn } from 'node:timers/promises';
import { getDeviceManifest, Problem } from '@attribution/contracts';
import type { Outbox } from '@attribution/messaging';
import { type Clock, createTurns } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { isEstateRead } from '../estate/index.ts';
import type { CampaignDatabase } from '../store.ts';
import { findLast, type LastManifest, setOwner } from './device-manifest.store.ts';
import { findFacts } from './facts.store.ts';
import { type FileUrl, viewManifest } from './manifest.view.ts';
import { paces, restAfter } from './paces.ts';
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

const estateUnread = () => new Problem('unavailable', 'The estate is still being read.');

/** Whether there is none yet, or time may have changed it. It is then made once, under its lock. */
const isDue = ({ version, changes_at }: LastManifest, now: Date) =>
  version === 0 || (changes_at !== null && changes_at <= now);

/** Makes the manifest at each request. Only one that differs from the last is written, with its version. */
export function getManifestEndpoint({ database, outbox, clock, fileUrl }: Dependencies) {
  const turns = createTurns({ total: atOnce, perLane: atOnce, perCaller: 1, maxWaiting, maxWaitMs, busy });

  /** Undefined unless it is the last one still. */
  async function unchangedManifest(device_id: string) {
    const [known] = await findFacts(database.sql, [device_id]);
    await nextTurn();
    const manifest = known && computeManifest(known, clock.now());
    return manifest?.version === known?.last.version ? manifest : undefined;
  }

  async function newManifest(device_id: string, newOwner: string | undefined) {
    const [made] = await database.sqlTransaction(async (tx) => {
      if (newOwner !== undefined) await setOwner(tx, device_id, newOwner);
      return refreshManifests(tx, [device_id], { outbox, clock });
    });
    if (!made) throw new Error('A device that was known is known');
    return made;
  }

  return implement(getDeviceManifest, async ({ params: { device_id }, query: { account_id } }) => {
    const endTurn = await turns.take({ lane: account_id ?? 'unknown', caller: device_id });
    let restMs = 0;
    try {
      const last = await findLast(database.sql, device_id);
      if (!(last?.estate_read ?? (await isEstateRead(database.sql)))) throw estateUnread();
      if (!last) throw Problem.notFound();
      const newOwner = last.owner_id === account_id ? undefined : account_id;
      const mayBeLast = newOwner === undefined && !isDue(last, clock.now());
      const unchanged = mayBeLast ? await unchangedManifest(device_id) : undefined;
      if (unchanged) return viewManifest(unchanged, fileUrl);
      const began = performance.now();
      const made = await newManifest(device_id, newOwner);
      restMs = restAfter(began, paces.due);
      return viewManifest(made, fileUrl);
    } finally {
      if (restMs > 0) setTimeout(endTurn, restMs).unref();
      else endTurn();
    }
  });
}

import { setImmediate as nextTurn } from 'node:timers/promises';
import { manifestChanged } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { type BuiltManifest, buildManifest } from './build-manifest.ts';
import { lockManifests, type ManifestRow, writeManifests } from './device-manifest.store.ts';
import { type DeviceFacts, findFacts } from './facts.store.ts';
import { manifestHash } from './manifest-hash.ts';

/** A manifest as it is now, with its version. */
export interface CurrentManifest extends DeviceFacts {
  readonly built: BuiltManifest;
  readonly version: number;
  readonly hash: string;
  readonly now: Date;
}

/** A manifest that may not have its version yet. */
export function computeManifest(known: DeviceFacts, now: Date): CurrentManifest {
  const built = buildManifest(known.facts, now.getTime());
  const hash = manifestHash(built.content);
  return { ...known, built, hash, now, version: known.last.version + (hash === known.last.hash ? 0 : 1) };
}

interface Dependencies {
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/**
 * Gives the manifests of these devices, as they are now, their versions: one more where the hash is another, with the
 * event. The devices' rows are locked before the facts are read, so whoever comes later has read later ones.
 */
export async function refreshManifests(
  tx: Sql,
  deviceIds: readonly string[],
  { outbox, clock }: Dependencies,
): Promise<readonly CurrentManifest[]> {
  await lockManifests(tx, deviceIds);
  const known = await findFacts(tx, deviceIds);
  const now = clock.now();
  const manifests: CurrentManifest[] = [];
  for (const one of known) {
    await nextTurn(); // Each takes long enough for requests to wait for it.
    manifests.push(computeManifest(one, now));
  }
  const changed = manifests.filter(({ version, last }) => version !== last.version);
  const rows = manifests.filter((one) => changed.includes(one) || changesAt(one) !== one.last.changes_at?.getTime());
  if (rows.length > 0) await writeManifests(tx, rows.map(rowOf));
  const events = changed.map(({ accountId, facts: { device_id }, version, hash }) =>
    newEvent(manifestChanged, { device_id, account_id: accountId, version, hash }, { accountId, occurredAt: now }),
  );
  if (events.length > 0) await outbox.append(tx, ...events);
  return manifests;
}

const changesAt = ({ built }: CurrentManifest) => built.changes_at ?? undefined;

const rowOf = ({ facts, version, hash, built }: CurrentManifest): ManifestRow => ({
  ...{ device_id: facts.device_id, version, hash },
  changes_at: built.changes_at === null ? null : new Date(built.changes_at),
});

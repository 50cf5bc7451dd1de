import { type DeviceManifest, getOwnManifest, Problem } from '@attribution/contracts';
import { Chosen, implementPrepared } from '@attribution/service';
import { isForeignLocation } from '../estate/index.ts';
import { type Admitted, admitDevice, type Recognition } from '../presence/index.ts';
import { findKept, keepManifest, setCurrent } from './manifest.store.ts';
import { noManifest } from './none.ts';
import type { ManifestSource } from './source.ts';

interface Dependencies extends Recognition {
  readonly manifestOf: ManifestSource;
}

/** Whether a header `If-None-Match` (RFC 9110 §13.1.2) names the tag. */
const names = (header: string | undefined, tag: string): boolean =>
  header?.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === tag) ?? false;

/** The manifest of now; while that cannot be made, the one that was given last. Throws `unavailable` without either. */
async function made({ database, clock, manifestOf }: Dependencies, device: Admitted): Promise<DeviceManifest> {
  const { device_id } = device;
  try {
    return (await manifestOf(device)) ?? noManifest(device_id, clock.now());
  } catch {
    const kept = await findKept(database.sql, device_id);
    if (kept) return kept;
    throw new Problem('unavailable', 'There is no manifest for the moment. Try again.', { 'retry-after': '30' });
  }
}

/** An installation may name any device, but what it plays comes from its own account alone. */
async function current(dependencies: Dependencies, device: Admitted): Promise<DeviceManifest> {
  const { database, clock } = dependencies;
  const { device_id, account_id } = device;
  const manifest = await made(dependencies, device);
  const { location_id } = manifest;
  const foreign = location_id !== null && (await isForeignLocation(database.sql, account_id, location_id));
  return foreign ? noManifest(device_id, clock.now()) : manifest;
}

export const getOwnManifestEndpoint = (dependencies: Dependencies) =>
  implementPrepared(getOwnManifest, admitDevice(dependencies), async ({ query, headers, prepared }) => {
    const { sql } = dependencies.database;
    const manifest = await current(dependencies, prepared);
    const { version } = manifest;
    const etag = `"${version}"`;
    if (query.known_version === version || names(headers['if-none-match'], etag)) {
      if (prepared.manifest_version !== version) await setCurrent(sql, prepared, version);
      return Chosen.otherwise<typeof getOwnManifest>(undefined, { etag });
    }
    await keepManifest(sql, manifest);
    return Chosen.usual<typeof getOwnManifest>(manifest, { etag });
  });

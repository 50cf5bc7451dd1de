import { createHash } from 'node:crypto';
import type { DeviceManifest } from '@attribution/contracts';

const dayMs = 24 * 60 * 60 * 1000;
/** The day of now and two more. */
const coveredDays = 3;

/** The manifest of a device that has nothing to play: version 0, the days of UTC. */
export function noManifest(deviceId: string, now: Date): DeviceManifest {
  // In the order of their names, as RFC 8785 writes an object.
  const content = {
    device_id: deviceId,
    files: [],
    holdouts: [],
    items: [],
    location_id: null,
    schema_version: 1 as const,
    screens: [],
    timezone: null,
  };
  const from = Math.floor(now.getTime() / dayMs) * dayMs;
  return {
    ...content,
    version: 0,
    hash: createHash('sha256').update(JSON.stringify(content)).digest('hex'),
    generated_at: now.toISOString(),
    covers_from: new Date(from).toISOString(),
    covers_to: new Date(from + coveredDays * dayMs).toISOString(),
  };
}

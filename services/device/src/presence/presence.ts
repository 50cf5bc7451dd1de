import { inBatches } from '@attribution/runtime';
import type { DeviceDatabase } from '../store.ts';
import { findByFingerprints, type Heard, type KnownCertificate, markSeen } from './presence.store.ts';

/** Devices call in large numbers, so what each of their requests asks and writes is done for many at once. */
export interface Presence {
  find(fingerprint: string): Promise<KnownCertificate | undefined>;
  markSeen(heard: Heard): Promise<void>;
}

export const openPresence = ({ sql }: Pick<DeviceDatabase, 'sql'>): Presence => ({
  find: inBatches((fingerprints) => findByFingerprints(sql, fingerprints)),
  markSeen: inBatches(async (heard) => {
    await markSeen(sql, heard);
    return heard.map(() => undefined);
  }),
});

import { type DeviceStatus, deviceOnline, shutOutDevice, unknownDevice } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { useFirst } from '../certificates/index.ts';
import type { DeviceDatabase } from '../store.ts';
import { type KnownCertificate, markOnline } from './presence.store.ts';
import type { Presence } from './presence.ts';

export interface Recognition {
  readonly database: DeviceDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly presence: Presence;
}

/** What a certificate that a device has shown means. */
export interface Recognized {
  /** Undefined if nobody has issued it. */
  readonly known: KnownCertificate | undefined;
  /** Whether it is in force. */
  readonly live: boolean;
  /** The status of the device, `suspended` also when its account is closed. */
  readonly status: DeviceStatus;
}

/** Requests that follow each other more closely do not move `last_seen_at`, in milliseconds: a row is not written at each. */
const coalescedMs = 100;

/** Finds out whose certificate was shown. If it is in force, it has now been used, and the device was heard. */
export async function recognize(dependencies: Recognition, fingerprint: string): Promise<Recognized> {
  const { clock, presence } = dependencies;
  const known = await presence.find(fingerprint);
  if (!known) return { known, live: false, status: 'retired' };
  const status = statusOf(known);
  const now = clock.now();
  const good = known.revoked_at === null && known.not_after > now && status !== 'retired';
  const used = { deviceId: known.device_id, fingerprint };
  const live = good && (known.used_at !== null || (await useFirst(dependencies, used, now)));
  if (live) await hear(dependencies, known, status, now);
  return { known, live, status };
}

/** A device of a closed account is treated as if it were suspended. */
const statusOf = ({ status, account_closed }: KnownCertificate): DeviceStatus =>
  account_closed && status !== 'retired' ? 'suspended' : status;

async function hear(
  { database, outbox, presence }: Recognition,
  { device_id, account_id, last_seen_at, told_online }: KnownCertificate,
  status: DeviceStatus,
  now: Date,
): Promise<void> {
  if (status === 'active' && !told_online) {
    const data = { device_id, account_id, last_seen_at: now.toISOString() };
    const event = newEvent(deviceOnline, data, { accountId: account_id, occurredAt: now });
    await outbox.appendWith(database.sql, markOnline(device_id, now), [{ id: device_id, event }]);
  } else if (!last_seen_at || now.getTime() - last_seen_at.getTime() >= coalescedMs) {
    await presence.markSeen({ deviceId: device_id, now });
  }
}

/** A device whose request is served. */
export interface Admitted extends KnownCertificate {
  readonly effectiveStatus: DeviceStatus;
}

/**
 * Judges the device of a request, before its body. Throws `unauthorized` for a certificate that is not in force, and, unless
 * `even_suspended`, `forbidden` for a device that is suspended.
 */
export const admitDevice =
  (dependencies: Recognition, { even_suspended = false }: { readonly even_suspended?: boolean } = {}) =>
  async ({ fingerprint }: { readonly fingerprint: string }): Promise<Admitted> => {
    const { known, live, status } = await recognize(dependencies, fingerprint);
    if (!known || !live) throw unknownDevice();
    if (status === 'suspended' && !even_suspended) throw shutOutDevice();
    return { ...known, effectiveStatus: status };
  };

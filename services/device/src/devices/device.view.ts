import type { Device, DeviceDetail, Inventory } from '@attribution/contracts';
import type { z } from 'zod';
import type { DetailedDevice, SeenDevice } from './device.store.ts';
import { isOnline } from './online.ts';

const instant = (date: Date | null) => date?.toISOString() ?? null;

function viewCertificate(row: SeenDevice): z.output<typeof Device>['certificate'] {
  const { fingerprint, certificate_serial: serial, not_before, not_after } = row;
  if (fingerprint === null || serial === null || !not_before || !not_after) return null;
  return {
    fingerprint,
    serial,
    not_before: not_before.toISOString(),
    not_after: not_after.toISOString(),
    revoked_at: instant(row.revoked_at),
    revocation_reason: row.revocation_reason,
  };
}

/** `now`: by which it is online or not. */
export function viewDevice(row: SeenDevice, now: Date): z.output<typeof Device> {
  return {
    id: row.id,
    serial: row.serial,
    name: row.name,
    model: row.model,
    hardware_revision: row.hardware_revision,
    firmware_version: row.firmware_version,
    status: row.status,
    installation_id: row.installation_id,
    location_id: row.location_id,
    certificate: viewCertificate(row),
    online: isOnline(row, now),
    last_seen_at: instant(row.last_seen_at),
    desired_version: row.desired_version,
    reported_version: row.reported_version,
    applied_version: row.applied_version,
    in_sync: row.applied_version === row.desired_version,
    manifest: {
      version: row.manifest_version,
      delivered_version: row.manifest_delivered,
      applied_version: row.manifest_applied,
    },
    open_faults: row.open_faults,
    claimed_at: instant(row.claimed_at),
    activated_at: instant(row.activated_at),
    suspended_at: instant(row.suspended_at),
    retired_at: instant(row.retired_at),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export function viewDetail(row: DetailedDevice, now: Date): z.output<typeof DeviceDetail> {
  const { desired, reported, reported_at } = row;
  return {
    ...viewDevice(row, now),
    config: { desired, reported, reported_at: instant(reported_at) },
    inventory: row.inventory as z.output<typeof Inventory> | null,
  };
}

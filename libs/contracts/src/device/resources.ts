import { z } from 'zod';
import { Manifest } from '../campaign/manifest.resources.ts';
import { Count, JsonObject, Name, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

export const deviceStatuses = ['manufactured', 'claimed', 'active', 'suspended', 'retired'] as const;
export const DeviceStatus = z.enum(deviceStatuses);
export type DeviceStatus = z.output<typeof DeviceStatus>;

export const revocationReasons = ['key_compromise', 'superseded', 'retired', 'unspecified'] as const;
export const RevocationReason = z.enum(revocationReasons);
export type RevocationReason = z.output<typeof RevocationReason>;

/** SHA-256 of a certificate's DER. */
export const Fingerprint = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits')
  .meta({ description: 'SHA-256 of the DER, in lower-case hex', example: 'a3'.repeat(32) });

/** A counter of configuration versions. */
export const Version = Count;

export const Serial = z
  .string()
  .regex(/^[A-Z0-9][A-Z0-9._-]{3,63}$/, 'must have 4 to 64 of A-Z 0-9 . _ - and begin with a letter or digit')
  .meta({ description: "The maker's serial number", example: 'PLAYER-000142' });

/** Levels of nesting of an object or array; 0 for anything else. */
export const depthOf = (value: unknown): number =>
  value !== null && typeof value === 'object' ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

export const configLimits = { bytes: 16 * 1024, levels: 8 } as const;

/** Why an object is not a configuration; undefined if it is one. */
export function configFault(value: object): string | undefined {
  if (depthOf(value) > configLimits.levels) return `must have at most ${configLimits.levels} levels`;
  const bytes = new TextEncoder().encode(JSON.stringify(value)).length;
  return bytes > configLimits.bytes ? `must have at most ${configLimits.bytes} bytes as JSON` : undefined;
}

export const defaultHeartbeatSeconds = 60;
export const HeartbeatInterval = z.int().min(10).max(3600);

/** As Campaign makes it; version 0 where Campaign knows none. */
export const DeviceManifest = Manifest.extend({ version: Count }).meta({ id: 'DeviceManifest' });
export type DeviceManifest = z.output<typeof DeviceManifest>;

export const DeviceCertificate = z
  .object({
    fingerprint: Fingerprint,
    serial: z.string().meta({ description: 'In lower-case hex, without leading zeros', example: '4f3a91c2d0e1b877' }),
    not_before: Timestamp,
    not_after: Timestamp,
    revoked_at: Timestamp.nullable(),
    revocation_reason: RevocationReason.nullable(),
  })
  .meta({ id: 'DeviceCertificate', description: 'The newest certificate that the device has used' });

const maybeText = z.string().nullable();

export const Device = z
  .object({
    id: id('device'),
    serial: z.string(),
    name: z.string(),
    model: maybeText,
    hardware_revision: maybeText,
    firmware_version: maybeText,
    status: DeviceStatus,
    installation_id: id('installation').nullable(),
    location_id: id('location').nullable(),
    certificate: DeviceCertificate.nullable(),
    online: z.boolean().meta({ description: 'Active, and heard within three heartbeat intervals' }),
    last_seen_at: Timestamp.nullable(),
    desired_version: Version,
    reported_version: Version,
    applied_version: Version,
    in_sync: z.boolean().meta({ description: 'The desired configuration is in force' }),
    manifest: z.object({
      version: Count.nullable(),
      delivered_version: Count.nullable(),
      applied_version: Count.nullable(),
    }),
    open_faults: Count,
    claimed_at: Timestamp.nullable(),
    activated_at: Timestamp.nullable(),
    suspended_at: Timestamp.nullable(),
    retired_at: Timestamp.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'Device', description: 'A physical unit that plays on screens' });

const Pixels = z.int().min(1).max(65_535);

const Output = z.object({
  output: z.string().max(64),
  connected: z.boolean(),
  width_px: Pixels.nullable().optional(),
  height_px: Pixels.nullable().optional(),
});

const Bytes = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const Inventory = z
  .object({
    firmware_version: z.string().max(100),
    os: z.string().max(100),
    outputs: z.array(Output).max(16),
    storage_bytes_total: Bytes,
    storage_bytes_free: Bytes,
    memory_bytes: Bytes,
    components: z
      .record(z.string(), z.string().max(100))
      .refine((names) => Object.keys(names).length <= 100, 'must have at most 100 names'),
  })
  .partial()
  .meta({ id: 'DeviceInventory', description: 'What a device says it consists of' });

export const DeviceDetail = Device.extend({
  config: z.object({ desired: JsonObject(), reported: JsonObject(), reported_at: Timestamp.nullable() }),
  inventory: Inventory.nullable(),
}).meta({ id: 'DeviceDetail' });

export const DeviceName = Name(200);

export const FaultSeverity = z.enum(['info', 'warning', 'error', 'critical']);

/** A UUIDv7, in lower or upper case. */
export const EventId = z.uuid({ version: 'v7', error: 'must be a UUIDv7' });

export const NewFault = z.object({
  event_id: EventId,
  code: z.string().regex(/^[a-z0-9_.]{1,64}$/, 'must have 1 to 64 of a-z 0-9 _ .'),
  severity: FaultSeverity,
  component: z.string().max(64).nullable().default(null),
  detail: z.string().max(1000).nullable().default(null),
  occurred_at: Timestamp,
  resolved: z.boolean().default(false),
});

export const Fault = NewFault.extend({
  component: z.string().nullable(),
  detail: z.string().nullable(),
  resolved: z.boolean(),
  received_at: Timestamp,
}).meta({ id: 'DeviceFault', description: 'What a device has said about a fault, or about its end' });

/** Items are judged one by one, so the envelope takes any of them. */
export const FactoryList = z.object({
  devices: z
    .array(z.unknown())
    .min(1, 'must have at least 1 value')
    .max(1000)
    .meta({ description: 'Objects with serial and public_key, and maybe model, hardware_revision and claim_code' }),
});

/** Of a relayed heartbeat, in UTF-16 code units: several times what one with all fields takes. */
export const relayedTextMax = 2_048;
/** Heartbeats of a relay. */
export const relayedMost = 64;

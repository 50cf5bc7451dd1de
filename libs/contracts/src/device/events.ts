import { z } from 'zod';
import { event } from '../event.ts';
import { topic } from '../topic.ts';
import { Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { FaultSeverity, Fingerprint, RevocationReason, Version } from './resources.ts';

export const deviceEvents = topic({ name: 'device.events', owner: 'device', partitions: 12 });

const byDevice = { topic: deviceEvents, version: 1, key: (data: { device_id: string }) => data.device_id };
const device = z.object({ device_id: id('device'), account_id: id('account') });
const certificate = device.extend({ fingerprint: Fingerprint });

export const deviceClaimed = event({
  type: 'device.claimed',
  ...byDevice,
  data: device.extend({ serial: z.string() }),
});
export const deviceActivated = event({ type: 'device.activated', ...byDevice, data: device });
export const deviceSuspended = event({ type: 'device.suspended', ...byDevice, data: device });
export const deviceResumed = event({
  type: 'device.resumed',
  ...byDevice,
  data: device.extend({ status: z.enum(['claimed', 'active']) }),
});
export const deviceRetired = event({ type: 'device.retired', ...byDevice, data: device });
/** Heard again, after it was offline or for the first time. */
export const deviceOnline = event({
  type: 'device.online',
  ...byDevice,
  data: device.extend({ last_seen_at: Timestamp }),
});
/** Not heard for three heartbeat intervals. */
export const deviceOffline = event({
  type: 'device.offline',
  ...byDevice,
  data: device.extend({ last_seen_at: Timestamp }),
});
export const deviceConfigChanged = event({
  type: 'device.config_changed',
  ...byDevice,
  data: device.extend({ desired_version: Version }),
});
export const deviceReported = event({
  type: 'device.reported',
  ...byDevice,
  data: device.extend({ reported_version: Version, applied_version: Version }),
});

const fault = device.extend({ event_id: z.string(), code: z.string(), component: z.string().nullable() });
export const deviceFaultOpened = event({
  type: 'device.fault_opened',
  ...byDevice,
  data: fault.extend({ severity: FaultSeverity, occurred_at: Timestamp }),
});
export const deviceFaultResolved = event({
  type: 'device.fault_resolved',
  ...byDevice,
  data: fault.extend({ occurred_at: Timestamp }),
});

export const certificateIssued = event({
  type: 'certificate.issued',
  ...byDevice,
  data: certificate.extend({ not_after: Timestamp }),
});
export const certificateRevoked = event({
  type: 'certificate.revoked',
  ...byDevice,
  data: certificate.extend({ reason: RevocationReason }),
});

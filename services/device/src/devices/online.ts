import type { DeviceStatus } from '@attribution/contracts';

/** A device is silent when this many heartbeats are missing. */
const missedHeartbeats = 3;

interface Heard {
  readonly status: DeviceStatus;
  readonly last_seen_at: Date | null;
  /** Seconds. */
  readonly heartbeat_interval: number;
}

/** Active, and heard within three heartbeat intervals. */
export const isOnline = ({ status, last_seen_at, heartbeat_interval }: Heard, now: Date): boolean =>
  status === 'active' &&
  last_seen_at !== null &&
  now.getTime() - last_seen_at.getTime() < missedHeartbeats * heartbeat_interval * 1000;

import type { Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import type { DeviceDatabase } from '../store.ts';

/** What changes of a device's life need. */
export interface Life {
  readonly database: DeviceDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

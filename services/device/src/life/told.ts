import type { EventType } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import type { OwnDevice } from '../devices/index.ts';

/** An event about a device, with further data. */
export const eventOf = (
  type: EventType,
  { id, account_id }: Pick<OwnDevice, 'id' | 'account_id'>,
  now: Date,
  more = {},
) => newEvent(type, { device_id: id, account_id, ...more }, { accountId: account_id, occurredAt: now });

import { z } from 'zod';
import { event, type Topic } from '../event.ts';
import { id } from '../wire/ids.ts';

export const accountEvents: Topic = { name: 'account.events', owner: 'account', partitions: 6 };

export const accountCreated = event({
  type: 'account.created',
  topic: accountEvents,
  version: 1,
  key: (data) => data.account_id,
  data: z.object({
    account_id: id('account'),
    name: z.string(),
    account_type: z.string(),
    owner_user_id: id('user'),
  }),
});

/** A sign-up that was never verified has been taken back: nothing of the account is left. */
export const accountPurged = event({
  type: 'account.purged',
  topic: accountEvents,
  version: 1,
  key: (data) => data.account_id,
  data: z.object({ account_id: id('account') }),
});

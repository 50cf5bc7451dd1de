import { z } from 'zod';
import { event } from '../event.ts';
import { topic } from '../topic.ts';
import { Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

export const accountEvents = topic({ name: 'account.events', owner: 'account', partitions: 6 });

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

/** A sign-up that was never verified was undone: the account no longer exists. */
export const accountPurged = event({
  type: 'account.purged',
  topic: accountEvents,
  version: 1,
  key: (data) => data.account_id,
  data: z.object({ account_id: id('account') }),
});

const byAccount = { topic: accountEvents, version: 1, key: (data: { account_id: string }) => data.account_id };
const inAccount = { account_id: id('account') };
const member = z.object({ ...inAccount, user_id: id('user') });
const key = z.object({ ...inAccount, api_key_id: id('api_key') });
const hold = z.object({ ...inAccount, hold_id: id('token_hold'), amount: z.int() });

export const accountClosed = event({ type: 'account.closed', ...byAccount, data: z.object(inAccount) });

/** The account has another plan. null: without a limit. */
export const accountLimitsChanged = event({
  type: 'account.limits_changed',
  ...byAccount,
  data: z.object({
    ...inAccount,
    /** Counts the changes of the account's limits. */
    limits_version: z.int(),
    plan_key: z.string(),
    users: z.int().nullable(),
    locations: z.int().nullable(),
    screens: z.int().nullable(),
  }),
});

export const userInvited = event({
  type: 'user.invited',
  ...byAccount,
  data: z.object({ ...inAccount, invitation_id: id('invitation') }),
});
export const userJoined = event({ type: 'user.joined', ...byAccount, data: member });
export const userRemoved = event({ type: 'user.removed', ...byAccount, data: member });
export const userGrantsChanged = event({ type: 'user.grants_changed', ...byAccount, data: member });

export const apiKeyCreated = event({ type: 'api_key.created', ...byAccount, data: key });
export const apiKeyRotated = event({
  type: 'api_key.rotated',
  ...byAccount,
  data: key.extend({ new_api_key_id: id('api_key') }),
});
export const apiKeyRevoked = event({ type: 'api_key.revoked', ...byAccount, data: key });

export const tokensGranted = event({
  type: 'tokens.granted',
  ...byAccount,
  data: z.object({
    ...inAccount,
    entry_id: id('ledger_entry'),
    amount: z.int(),
    expires_at: Timestamp.nullable(),
  }),
});
export const tokensHeld = event({ type: 'tokens.held', ...byAccount, data: hold });
export const tokensCaptured = event({ type: 'tokens.captured', ...byAccount, data: hold });
export const tokensVoided = event({ type: 'tokens.voided', ...byAccount, data: hold });
/** A grant has expired, or a hold that was neither captured nor released. */
export const tokensExpired = event({
  type: 'tokens.expired',
  ...byAccount,
  data: z.object({
    ...inAccount,
    amount: z.int(),
    of: z.union([z.object({ entry_id: id('ledger_entry') }), z.object({ hold_id: id('token_hold') })]),
  }),
});

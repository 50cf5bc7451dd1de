import { defineArea } from '../area.ts';
import * as account from './account.endpoints.ts';
import * as accounts from './accounts.endpoints.ts';
import * as apiKeys from './api-keys.endpoints.ts';
import * as audit from './audit.endpoints.ts';
import * as auth from './auth.endpoints.ts';
import * as events from './events.ts';
import * as internal from './internal.endpoints.ts';
import * as invitations from './invitations.endpoints.ts';
import * as mfa from './mfa.endpoints.ts';
import * as users from './users.endpoints.ts';

/** In the order of the API reference. */
export const area = defineArea({
  endpoints: [auth, mfa, account, accounts, users, invitations, apiKeys, audit],
  internalEndpoints: [internal],
  events: [events],
});

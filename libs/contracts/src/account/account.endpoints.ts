import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { AccountType, Balance, LedgerEntry, Permissions, Plan, User } from './resources.ts';

const accountId = z.object({ id: id('account') });

export const getMe = endpoint({
  operation: 'get_me',
  method: 'GET',
  path: '/v2/users/me',
  service: 'account',
  summary: 'The caller',
  access: { credential: 'person', about_self: true },
  success: { status: 200, description: 'The user', body: User },
});

export const getMyPermissions = endpoint({
  operation: 'get_my_permissions',
  method: 'GET',
  path: '/v2/users/me/permissions',
  service: 'account',
  summary: "The caller's permissions",
  description: 'Read from the database, not from the token: a change shows at once.',
  access: { credential: 'person', about_self: true },
  success: { status: 200, description: 'Permissions', body: Permissions },
});

export const listPlans = endpoint({
  operation: 'list_plans',
  method: 'GET',
  path: '/v2/plans',
  service: 'account',
  summary: 'Plans and what they entitle to',
  access: { credential: 'any' },
  success: { status: 200, description: 'All plans', body: z.array(Plan) },
});

export const listAccountTypes = endpoint({
  operation: 'list_account_types',
  method: 'GET',
  path: '/v2/account-types',
  service: 'account',
  summary: 'Active account types',
  access: { credential: 'any' },
  success: { status: 200, description: 'All active account types', body: z.array(AccountType) },
});

export const listLedger = endpoint({
  operation: 'list_ledger',
  method: 'GET',
  path: '/v2/accounts/{id}/ledger',
  service: 'account',
  summary: 'Token ledger',
  description: 'Newest first.',
  access: { credential: 'any' },
  params: accountId,
  query: z.object(pageQuery),
  success: { status: 200, description: 'A page of entries', body: Page(LedgerEntry) },
});

export const getBalance = endpoint({
  operation: 'get_balance',
  method: 'GET',
  path: '/v2/accounts/{id}/balance',
  service: 'account',
  summary: 'Token balance',
  access: { credential: 'any' },
  params: accountId,
  success: { status: 200, description: 'The balance and what is left of each grant', body: Balance },
});

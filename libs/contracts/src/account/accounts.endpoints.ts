import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { unchangeable } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { AccountChange, AccountMembership } from './people.resources.ts';
import { freshProof } from './proof.ts';
import { Account, MfaSetupRequired, Session } from './resources.ts';

const service = 'account';
const caller = { credential: 'person', about_self: true } as const;
const owner = { credential: 'person', roles: ['owner'] } as const;
const accountId = z.object({ id: id('account') });

export const listAccounts = endpoint({
  operation: 'list_accounts',
  method: 'GET',
  path: '/v2/accounts',
  service,
  summary: "The caller's accounts",
  access: caller,
  query: z.object(pageQuery),
  success: {
    status: 200,
    description: 'A page of memberships, the earliest joined first',
    body: Page(AccountMembership),
  },
});

export const switchAccount = endpoint({
  operation: 'switch_account',
  method: 'POST',
  path: '/v2/accounts/switch',
  service,
  summary: 'Sign in to another of the own accounts',
  description: 'Starts a session there; this one goes on.',
  access: caller,
  body: z.object({ account_id: id('account') }),
  success: {
    status: 200,
    description: 'A session in that account, or MFA to set up first',
    body: z.union([Session, MfaSetupRequired]),
  },
  problems: ['not-found'],
});

export const getAccount = endpoint({
  operation: 'get_account',
  method: 'GET',
  path: '/v2/accounts/{id}',
  service,
  summary: "The session's account",
  access: { credential: 'person' },
  params: accountId,
  success: { status: 200, description: 'The account', body: Account },
});

export const updateAccount = endpoint({
  operation: 'update_account',
  method: 'PATCH',
  path: '/v2/accounts/{id}',
  service,
  summary: 'Change the account',
  description: 'With require_mfa, who has no MFA sets it up at the next sign-in.',
  access: owner,
  params: accountId,
  body: AccountChange.extend(unchangeable('id', 'account_type', 'status', 'created_at')).meta({
    id: 'AccountChange',
    example: { require_mfa: true },
  }),
  success: { status: 200, description: 'The account', body: Account },
  problems: ['conflict'],
});

export const closeAccount = endpoint({
  operation: 'close_account',
  method: 'POST',
  path: '/v2/accounts/{id}/close',
  service,
  summary: 'Close the account',
  description: 'Ends every session in it, and its API keys give no more tokens. For good.',
  access: owner,
  params: accountId,
  body: z.object(freshProof).optional(),
  success: { status: 200, description: 'The closed account', body: Account },
  problems: ['conflict', 'rate-limited'],
});

export const transferOwnership = endpoint({
  operation: 'transfer_ownership',
  method: 'POST',
  path: '/v2/accounts/{id}/transfer-ownership',
  service,
  summary: 'Hand the account over',
  description: 'An active user of the account becomes its owner; the owner stays as an admin.',
  access: owner,
  params: accountId,
  body: z.object({ user_id: id('user'), ...freshProof }),
  success: { status: 204, description: 'Handed over' },
  problems: ['conflict', 'unprocessable', 'rate-limited'],
});

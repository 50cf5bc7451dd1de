import { z } from 'zod';
import { serviceNames } from '../endpoint.ts';
import { Count, Email, Timestamp, Tokens } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

export const User = z
  .object({
    id: id('user'),
    email: Email,
    full_name: z.string().meta({ example: 'Ada Lovelace' }),
    email_verified: z.boolean(),
    mfa_enabled: z.boolean(),
    created_at: Timestamp,
  })
  .meta({ id: 'User' });

export const Account = z
  .object({
    id: id('account'),
    name: z.string().meta({ example: 'Ada Lovelace' }),
    account_type: z.string().meta({ description: 'The key of an account type', example: 'network' }),
    status: z.enum(['active', 'suspended', 'closed']),
    require_mfa: z.boolean(),
    created_at: Timestamp,
  })
  .meta({ id: 'Account' });

export const TokenPair = z
  .object({
    access_token: z.string().meta({ description: 'Bearer token, 15 minutes', example: 'eyJhbGciOi…' }),
    refresh_token: z.string().meta({ description: 'Exchanged once, within 30 days', example: 'rt_01968f3e-7a4b…' }),
  })
  .meta({ id: 'TokenPair' });

export const Session = z
  .object({ ...TokenPair.shape, user: User, account: Account })
  .meta({ id: 'Session', description: 'One person in one account' });

const expiresIn = z.int().meta({ description: 'Seconds', example: 600 });

export const MfaChallenge = z
  .object({ mfa_challenge: z.literal(true), challenge_token: z.string(), expires_in: expiresIn })
  .meta({ id: 'MfaChallenge', description: 'The person has MFA: exchange the token and a code' });

export const MfaSetupRequired = z
  .object({ mfa_setup_required: z.literal(true), setup_token: z.string(), expires_in: expiresIn })
  .meta({ id: 'MfaSetupRequired', description: 'MFA must be set up in the product app before a session exists' });

export const Verification = z
  .object({
    method: z.literal('email_code'),
    email: Email.meta({ description: 'Where it was sent' }),
    code_length: z.int().meta({ example: 6 }),
    code_charset: z.literal('digits'),
    expires_in: expiresIn,
  })
  .meta({ id: 'Verification', description: 'What the e-mail contains, so that a form can be drawn for it' });

export const GroupGrant = z
  .object({
    group_id: id('group'),
    role: z.enum(['a', 'm']).meta({ description: 'a: group admin, m: group member' }),
  })
  .meta({ id: 'GroupGrant' });

const GroupAnswers = z
  .object({ set_up_estate: z.boolean(), edit_campaigns: z.boolean(), publish_campaigns: z.boolean() })
  .meta({ id: 'GroupAnswers', description: 'Answers that differ by group' });

export const Permissions = z
  .object({
    role: z.enum(['owner', 'admin', 'member']),
    group_scope: z.enum(['all', 'selected']),
    groups: z.array(GroupGrant).meta({ description: 'Empty when group_scope is all' }),
    services: z
      .partialRecord(z.enum(serviceNames), z.enum(['r', 'w']))
      .meta({ description: 'r: read, w: read and write; absent: none', example: { organization: 'r', campaign: 'w' } }),
    can: z
      .object({
        invite_users: z.boolean(),
        manage_api_keys: z.boolean(),
        manage_billing: z.boolean(),
        manage_groups: z.boolean(),
        set_up_estate: z.boolean().meta({ description: 'In one group at least' }),
        edit_campaigns: z.boolean(),
        publish_campaigns: z.boolean().meta({ description: 'In one group at least' }),
        in_groups: z
          .record(id('group'), GroupAnswers)
          .optional()
          .meta({ description: 'By group, where group_scope is selected; else the answers hold in every group' }),
      })
      .meta({ description: 'Answers resolved for a user interface' }),
  })
  .meta({ id: 'Permissions' });

export const Plan = z
  .object({
    id: id('plan'),
    key: z.string().meta({ example: 'starter' }),
    name: z.string().meta({ example: 'Starter' }),
    description: z.string().meta({ example: 'For a few shops' }),
    entitlements: z.object({
      tokens: Tokens.meta({ description: 'Granted each period; the free plan grants once' }),
      users: Count.nullable().meta({ description: 'null: no limit', example: 10 }),
      locations: Count.nullable().meta({ description: 'null: no limit', example: 20 }),
      screens: Count.nullable().meta({ description: 'null: no limit', example: 60 }),
    }),
  })
  .meta({ id: 'Plan' });

export const AccountType = z
  .object({
    key: z.string().meta({ example: 'network' }),
    name: z.string().meta({ example: 'Network' }),
    description: z.string().meta({ example: 'Screens and cameras in your own shops and venues' }),
  })
  .meta({ id: 'AccountType', description: 'A product line' });

export const LedgerEntry = z
  .object({
    id: id('ledger_entry'),
    account_id: id('account'),
    seq: z.int().min(1).meta({ description: "The account's own count, without gaps" }),
    kind: z
      .enum(['grant', 'purchase', 'capture', 'refund', 'expiry', 'adjustment', 'debt'])
      .meta({ description: 'debt: tokens of a purchase that paid for spent ones of a lost dispute' }),
    amount: Tokens,
    balance_after: Tokens,
    description: z.string().meta({ example: 'Free plan' }),
    expires_at: Timestamp.nullable().meta({ description: 'Of a grant' }),
    created_at: Timestamp,
  })
  .meta({ id: 'LedgerEntry' });

export const Balance = z
  .object({
    account_id: id('account'),
    posted: Tokens.meta({ description: 'The sum of the ledger' }),
    held: Tokens.meta({ description: 'Reserved by holds', example: 200 }),
    available: Tokens.meta({ description: 'posted − held, never negative', example: 800 }),
    grants: z
      .array(
        z.object({
          id: id('ledger_entry'),
          amount: Tokens,
          remaining: Tokens,
          priority: z.int().meta({ description: 'Lower burns first', example: 10 }),
          expires_at: Timestamp.nullable(),
          created_at: Timestamp,
        }),
      )
      .meta({ description: 'What is left of each grant, in the order it burns' }),
  })
  .meta({ id: 'Balance' });

/** Used between services only. */
export const TokenHold = z.object({
  id: id('token_hold'),
  account_id: id('account'),
  amount: Tokens,
  captured_amount: Tokens,
  status: z.enum(['pending', 'captured', 'voided', 'expired']),
  description: z.string(),
  expires_at: Timestamp,
  created_at: Timestamp,
  resolved_at: Timestamp.nullable(),
});

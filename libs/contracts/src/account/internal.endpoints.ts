import { z } from 'zod';
import { AuditEntry } from '../audit-entry.ts';
import { endpoint } from '../endpoint.ts';
import { Duration } from '../wire/durations.ts';
import { Name, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { ApiKeyWithSecret } from './api-keys.resources.ts';
import { GroupGrants } from './people.resources.ts';
import { LedgerEntry, TokenHold } from './resources.ts';

const service = 'account';
/** Billing holds the tokens of a refund, and Account itself settles that hold. Campaign holds and captures the tokens of scores. */
const holders = { credential: 'internal', callers: ['billing', 'campaign'] } as const;
const spenders = { credential: 'internal', callers: ['campaign'] } as const;
const positive = z.int().min(1, 'must be at least 1').max(1_000_000_000_000);
/** Chosen by the caller, and stored permanently with what it made. */
const idempotencyKey = z.string().min(1).max(200);

export const createTokenGrant = endpoint({
  operation: 'create_token_grant',
  method: 'POST',
  path: '/internal/v2/token-grants',
  service,
  summary: 'Give an account tokens',
  description: 'A repeated idempotency_key answers the first entry.',
  access: holders,
  body: z.object({
    account_id: id('account'),
    idempotency_key: idempotencyKey,
    kind: z.enum(['grant', 'purchase', 'refund', 'adjustment']),
    amount: positive,
    description: Name(),
    priority: z.int().min(0).max(1000).default(100).meta({ description: 'Lower burns first' }),
    expires_at: Timestamp.nullable().default(null),
  }),
  success: { status: 201, description: 'The ledger entry', body: LedgerEntry },
  problems: ['unprocessable', 'conflict'],
});

export const createTokenHold = endpoint({
  operation: 'create_token_hold',
  method: 'POST',
  path: '/internal/v2/token-holds',
  service,
  summary: 'Reserve tokens',
  description: 'A repeated idempotency_key answers the first hold.',
  access: holders,
  body: z.object({
    account_id: id('account'),
    idempotency_key: idempotencyKey,
    amount: positive,
    description: Name(),
    expires_in: Duration({ atMost: '90d' }),
    payment_id: id('payment').nullable().default(null).meta({ description: 'Of the tokens that it bought alone' }),
  }),
  success: { status: 201, description: 'The hold', body: TokenHold },
  problems: ['insufficient-balance', 'conflict', 'unprocessable'],
});

export const captureTokenHold = endpoint({
  operation: 'capture_token_hold',
  method: 'POST',
  path: '/internal/v2/token-holds/{id}/capture',
  service,
  summary: 'Spend what was reserved, or a part; the rest is released',
  description: 'Captured again with the same amount, it answers the same.',
  access: spenders,
  params: z.object({ id: id('token_hold') }),
  body: z.object({ amount: positive }),
  success: { status: 200, description: 'The hold', body: TokenHold },
  problems: ['conflict', 'unprocessable'],
});

export const voidTokenHold = endpoint({
  operation: 'void_token_hold',
  method: 'POST',
  path: '/internal/v2/token-holds/{id}/void',
  service,
  summary: 'Release what was reserved',
  access: spenders,
  params: z.object({ id: id('token_hold') }),
  success: { status: 200, description: 'The hold', body: TokenHold },
  problems: ['conflict'],
});

export const createMachineKey = endpoint({
  operation: 'create_machine_key',
  method: 'POST',
  path: '/internal/v2/api-keys',
  service,
  summary: 'Create a sim or production key',
  access: { credential: 'internal', callers: ['device'] },
  body: z.object({
    account_id: id('account'),
    type: z.enum(['sim', 'production']),
    name: Name(),
    role: z.enum(['viewer', 'member', 'admin']).default('member'),
    readonly: z.boolean().default(false),
    group_scope: z.enum(['all', 'selected']).default('all'),
    groups: GroupGrants.default([]),
  }),
  success: { status: 201, description: 'The key, with its secret', body: ApiKeyWithSecret },
  problems: ['conflict', 'unprocessable'],
});

export const createSupportSession = endpoint({
  operation: 'create_support_session',
  method: 'POST',
  path: '/internal/v2/support-sessions',
  service,
  summary: 'Let an operator look into an account',
  description: 'Reads what an admin reads; changes nothing. Audited in the account.',
  access: { credential: 'internal', callers: ['account'] },
  body: z.object({
    account_id: id('account'),
    operator: Name().meta({ example: 'grace@attribution.example' }),
    reason: Name(500),
  }),
  success: {
    status: 201,
    description: 'A token',
    body: z.object({ access_token: z.string(), token_type: z.literal('Bearer'), expires_in: z.int() }),
  },
  problems: ['unprocessable'],
});

/** The gateway has no outbox. What it loses of this it counts. */
export const recordRefusals = endpoint({
  operation: 'record_refusals',
  method: 'POST',
  path: '/internal/v2/refusals',
  service,
  summary: 'Note in the audit log what the gateway has refused',
  description: 'A repeated record is kept once.',
  access: { credential: 'internal', callers: ['gateway'] },
  body: z.object({
    entries: z
      .array(AuditEntry.extend({ outcome: z.literal('refused') }))
      .min(1)
      .max(100),
  }),
  success: { status: 204, description: 'They are in the log' },
});

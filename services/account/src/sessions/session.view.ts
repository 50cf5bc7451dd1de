import type { Account, User } from '@attribution/contracts';
import type { z } from 'zod';

export interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly full_name: string;
  readonly email_verified_at: Date | null;
  readonly mfa_enabled_at: Date | null;
  readonly created_at: Date;
}

export function viewUser(row: UserRow): z.output<typeof User> {
  return {
    id: row.id,
    email: row.email,
    full_name: row.full_name,
    email_verified: row.email_verified_at !== null,
    mfa_enabled: row.mfa_enabled_at !== null,
    created_at: row.created_at.toISOString(),
  };
}

export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly account_type_key: string;
  readonly status: 'active' | 'suspended' | 'closed';
  readonly require_mfa: boolean;
  readonly created_at: Date;
}

export function viewAccount(row: AccountRow): z.output<typeof Account> {
  return {
    id: row.id,
    name: row.name,
    account_type: row.account_type_key,
    status: row.status,
    require_mfa: row.require_mfa,
    created_at: row.created_at.toISOString(),
  };
}

/** The API names a session after its family of refresh tokens. */
export const wireSessionId = (id: string) => `rt_${id}`;
export const sessionIdOf = (wire: string) => wire.slice('rt_'.length);

import { z } from 'zod';
import { serviceNames } from '../endpoint.ts';
import { Email, MailedName, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Account, GroupGrant, Session } from './resources.ts';

/** Grants in a request: ids, or ids with a role. Responses always have objects (decision 21). */
export const GroupGrants = z
  .array(
    z.union(
      [
        id('group').transform((group_id) => ({ group_id, role: 'm' as const })),
        z.object({ group_id: id('group'), role: z.enum(['a', 'm']).default('m') }),
      ],
      'must be a group id (grp_…), or an object of group_id and role',
    ),
  )
  // Every access token contains all of them, and the size of headers is limited.
  .max(100, 'must have at most 100 groups')
  .refine(
    (grants) => new Set(grants.map(({ group_id }) => group_id)).size === grants.length,
    'must not name a group twice',
  )
  .meta({
    description:
      'Group ids, or objects of group_id and role (a: group admin, m: group member), each group once. Empty when group_scope is all',
  });

export const ServiceAccessMap = z
  .partialRecord(z.enum([...serviceNames, '*']), z.enum(['r', 'w']))
  .meta({ description: 'r: read, w: read and write; `*`: every other service', example: { '*': 'r', campaign: 'w' } });

const groupScope = z.enum(['all', 'selected']);
const role = z.enum(['owner', 'admin', 'member']);

/** The permissions of a membership in a response. */
const rights = {
  group_scope: groupScope,
  groups: z.array(GroupGrant).meta({ description: 'Empty when group_scope is all' }),
  services: ServiceAccessMap.nullable().meta({ description: "null: the role's default, which is everything" }),
  billing: z.boolean().meta({ description: 'Billing access; owners and admins always have it' }),
};

export const Member = z
  .object({
    id: id('user'),
    email: Email,
    full_name: z.string(),
    email_verified: z.boolean(),
    mfa_enabled: z.boolean(),
    role,
    ...rights,
    status: z.enum(['active', 'disabled']),
    joined_at: Timestamp,
  })
  .meta({ id: 'Member', description: 'A user in this account' });

/** Only owners and admins, and the user, are sent the optional fields. */
export const SeenMember = z
  .object({
    ...Member.shape,
    ...Member.pick({ email: true, email_verified: true, mfa_enabled: true, services: true, billing: true }).partial()
      .shape,
    groups: rights.groups.meta({ description: 'Those that the caller sees; empty when group_scope is all' }),
  })
  .meta({
    id: 'SeenMember',
    description:
      'A user in this account. Address, security and permissions are sent to owners, admins and the user alone',
  });

/** The permissions that can be assigned. The role `owner` is not among them, because ownership is handed over. */
const givenRights = {
  role: z.enum(['admin', 'member']),
  group_scope: groupScope.meta({ description: 'all for an admin' }),
  groups: GroupGrants,
  services: ServiceAccessMap.nullable(),
  billing: z.boolean().meta({ description: 'true for an admin' }),
};

export const MemberChange = z.object({ ...givenRights, status: z.enum(['active', 'disabled']) }).partial();

export const Invitation = z
  .object({
    id: id('invitation'),
    email: Email,
    role: z.enum(['admin', 'member']),
    ...rights,
    status: z.enum(['pending', 'accepted', 'expired']),
    invited_by: id('user').nullable(),
    expires_at: Timestamp,
    accepted_at: Timestamp.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'Invitation' });

export const NewInvitation = z
  .object({
    email: Email,
    role: givenRights.role.default('member'),
    group_scope: givenRights.group_scope.default('all'),
    groups: GroupGrants.default([]),
    services: givenRights.services.default(null),
    billing: givenRights.billing.default(false).meta({ description: 'An admin has it in any case' }),
  })
  .meta({ id: 'NewInvitation', example: { email: 'grace@example.com', role: 'member' } });

export const UserChange = z.object({ full_name: MailedName() }).partial();
export const AccountChange = z.object({ name: MailedName(), require_mfa: z.boolean() }).partial();

export const AccountMembership = z
  .object({ account: Account, role, status: z.enum(['active', 'disabled']), joined_at: Timestamp })
  .meta({ id: 'AccountMembership', description: "One of the caller's accounts" });

export const SessionInfo = z
  .object({
    id: id('refresh_token').meta({ description: 'Of the session: its family of refresh tokens' }),
    account_id: id('account'),
    current: z.boolean().meta({ description: 'The session of this request' }),
    ip: z.string(),
    user_agent: z.string().nullable(),
    created_at: Timestamp,
    last_used_at: Timestamp,
  })
  .meta({ id: 'SessionInfo', description: 'A session that has not ended' });

export const MfaSetup = z
  .object({
    secret: z.string().meta({ description: 'Base32, to type in', example: 'JBSWY3DPEHPK3PXP' }),
    otpauth_uri: z.string().meta({ description: 'To show as a QR code', example: 'otpauth://totp/…' }),
  })
  .meta({ id: 'MfaSetup' });

export const RecoveryCodes = z
  .object({
    recovery_codes: z.array(z.string()).meta({ description: 'Ten codes, each good once in place of a TOTP code' }),
  })
  .meta({ id: 'RecoveryCodes' });

export const EnrolledSession = z
  .object({ ...Session.shape, ...RecoveryCodes.shape })
  .meta({ id: 'EnrolledSession', description: 'The first session after MFA was set up' });

export const AuditRecord = z
  .object({
    id: z.uuid(),
    occurred_at: Timestamp,
    action: z.string().meta({
      description: 'What was done, or tried: `<subject>.<action>`, or the name of the operation',
      example: 'api_key.created',
    }),
    outcome: z.enum(['done', 'refused']),
    actor: z.object({
      type: z.enum(['person', 'api_key', 'service', 'support', 'unknown']),
      id: z.string().nullable().meta({ description: 'usr_ or key_ id, or the name of a service or operator' }),
    }),
    subject: z
      .object({ type: z.string().meta({ example: 'api_key' }), id: z.string() })
      .nullable()
      .meta({ description: 'Whose, or which' }),
    ip: z.string().nullable(),
    user_agent: z.string().nullable(),
    request_id: z.string().nullable().meta({ description: 'The `X-Request-Id`, which the client may have chosen' }),
    platform_request_id: z.uuid().nullable().meta({
      description: "The platform's own id of the request. null: no request caused it, or it is an old record",
    }),
    details: z.record(z.string(), z.unknown()).meta({
      description:
        'What else there is to say: the names of the changed fields (`changed`), the reason of a refusal, how often it was repeated (`count`)',
      example: { reason: 'wrong_password' },
    }),
  })
  .meta({ id: 'AuditRecord' });

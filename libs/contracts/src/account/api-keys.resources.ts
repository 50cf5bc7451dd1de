import { z } from 'zod';
import { Duration } from '../wire/durations.ts';
import { Name, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { GroupGrants } from './people.resources.ts';
import { GroupGrant } from './resources.ts';

const keyRole = z.enum(['viewer', 'member', 'admin']);
const keyType = z.enum(['api', 'sim', 'production']);
const groupScope = z.enum(['all', 'selected']);

export const ApiKey = z
  .object({
    id: id('api_key'),
    name: z.string().meta({ example: 'Dashboard export' }),
    access_key_id: z.string().meta({ description: 'The public half', example: 'atp_live_5Yc…' }),
    role: keyRole,
    type: keyType,
    readonly: z.boolean(),
    group_scope: groupScope,
    groups: z.array(GroupGrant).meta({ description: 'Empty when group_scope is all' }),
    created_by: id('user').nullable(),
    expires_at: Timestamp.nullable().meta({ description: 'null: never' }),
    last_used_at: Timestamp.nullable().meta({ description: 'To the minute' }),
    rotated_at: Timestamp.nullable().meta({ description: 'It was replaced then, and dies at expires_at' }),
    revoked_at: Timestamp.nullable(),
    created_at: Timestamp,
  })
  .meta({ id: 'ApiKey' });

export const ApiKeyWithSecret = z
  .object({
    ...ApiKey.shape,
    access_key_secret: z.string().length(40).meta({ description: 'The private half: shown once, kept nowhere' }),
  })
  .meta({ id: 'ApiKeyWithSecret' });

export const NewApiKey = z
  .object({
    name: Name(),
    role: keyRole.default('viewer'),
    type: keyType.default('api').meta({ description: 'Leave it out: sim and production are made by us' }),
    readonly: z.boolean().default(true).meta({ description: 'A viewer key is always read-only' }),
    group_scope: groupScope.default('all'),
    groups: GroupGrants.default([]),
    expires_in: Duration({ atMost: '90d' })
      .optional()
      .meta({ description: 'More than 0, at most 90d; instead of expires_at', example: '30d' }),
    expires_at: Timestamp.optional().meta({ description: 'In the future, at most 90 days from now' }),
  })
  .meta({ id: 'NewApiKey', example: { name: 'Dashboard export', role: 'viewer', expires_in: '30d' } });

export const ApiKeyChange = z
  .object({
    name: Name(),
    readonly: z.boolean(),
    group_scope: groupScope,
    groups: GroupGrants.meta({ description: 'In place of all grants before' }),
    expires_at: Timestamp.nullable().meta({
      description: 'In the future, at most 90 days after the key was made; null: never',
    }),
  })
  .partial();

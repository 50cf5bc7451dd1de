import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { Duration } from '../wire/durations.ts';
import { unchangeable } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { ApiKey, ApiKeyChange, ApiKeyWithSecret, NewApiKey } from './api-keys.resources.ts';

const service = 'account';
const access = { credential: 'person', roles: ['owner', 'admin'] } as const;
const keyId = z.object({ id: id('api_key') });

export const listApiKeys = endpoint({
  operation: 'list_api_keys',
  method: 'GET',
  path: '/v2/api-keys',
  service,
  summary: 'API keys of this account',
  description:
    'All that work, and of those that were rotated, have expired or were revoked the newest 200; newest first. Any can be read by its id.',
  access,
  turns: 'page',
  success: { status: 200, description: 'All keys, without secrets', body: z.array(ApiKey) },
});

export const createApiKey = endpoint({
  operation: 'create_api_key',
  method: 'POST',
  path: '/v2/api-keys',
  service,
  summary: 'Create an API key',
  access,
  body: NewApiKey,
  idempotent: 'secret',
  success: { status: 201, description: 'The key, with its secret', body: ApiKeyWithSecret },
  problems: ['conflict', 'unprocessable'],
});

export const getApiKey = endpoint({
  operation: 'get_api_key',
  method: 'GET',
  path: '/v2/api-keys/{id}',
  service,
  summary: 'An API key',
  access,
  params: keyId,
  success: { status: 200, description: 'The key, without its secret', body: ApiKey },
});

export const updateApiKey = endpoint({
  operation: 'update_api_key',
  method: 'PATCH',
  path: '/v2/api-keys/{id}',
  service,
  summary: 'Change an API key',
  access,
  params: keyId,
  body: ApiKeyChange.extend(
    unchangeable(
      'id',
      'access_key_id',
      'access_key_secret',
      'role',
      'type',
      'created_by',
      'last_used_at',
      'rotated_at',
      'revoked_at',
      'created_at',
      'expires_in',
    ),
  ).meta({ id: 'ApiKeyChange', example: { name: 'Nightly export' } }),
  success: { status: 200, description: 'The key', body: ApiKey },
  problems: ['conflict', 'unprocessable'],
});

export const deleteApiKey = endpoint({
  operation: 'delete_api_key',
  method: 'DELETE',
  path: '/v2/api-keys/{id}',
  service,
  summary: 'Revoke an API key',
  description: 'No new tokens from now on; those already out live to their expiry.',
  access,
  params: keyId,
  success: { status: 204, description: 'Revoked' },
});

export const rotateApiKey = endpoint({
  operation: 'rotate_api_key',
  method: 'POST',
  path: '/v2/api-keys/{id}/rotate',
  service,
  summary: 'Replace an API key',
  description:
    'The new key has the same rights and lives as long as the old one was to. The old one dies after `grace`; until then both count among the 1,000 that an account may have.',
  access,
  params: keyId,
  body: z
    .object({
      grace: Duration({ atMost: '90d', allowZero: true })
        .optional()
        .meta({ description: 'How long the old secret goes on to work, at most 90d; 0 when left out', example: '48h' }),
    })
    .optional(),
  idempotent: 'secret',
  success: { status: 201, description: 'The new key, with its secret', body: ApiKeyWithSecret },
  problems: ['conflict'],
});

export const exchangeApiKey = endpoint({
  operation: 'exchange_api_key',
  method: 'POST',
  path: '/v2/auth/api-token',
  service,
  summary: 'Exchange an API key for an access token',
  description: 'There is no refresh token: exchange the key again. Keep the token until it expires.',
  access: { credential: 'none' },
  rate_limit: { window_seconds: 60, limit: 60, counts: 'requests' },
  headers: z.object({
    'x-access-key-id': z.string().optional().meta({ description: 'The public half', example: 'atp_live_5YcQ2mR8' }),
    'x-access-key-secret': z
      .string()
      .optional()
      .meta({ description: 'The private half', example: 'as shown when the key was made' }),
  }),
  success: {
    status: 200,
    description: 'A token',
    body: z
      .object({
        access_token: z.string(),
        token_type: z.literal('Bearer'),
        expires_in: z.int().meta({ description: 'Seconds', example: 900 }),
      })
      .meta({ id: 'ApiToken' }),
  },
  problems: ['unauthorized', 'forbidden'],
});

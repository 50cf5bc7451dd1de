import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { CommaSeparated, Text } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { BlacklistEntry, BlacklistReason, NewBlacklistEntry } from './blacklist.resources.ts';
import { scopeQuery } from './queries.ts';

const service = 'events';
const path = '/v2/blacklist';
const access = { credential: 'any' } as const;
const params = z.object({ id: id('blacklist_entry') });
const narrowed = 'A caller narrowed to groups has to do with entries of locations in these groups alone.';

export const listBlacklist = endpoint({
  ...{ operation: 'list_blacklist', method: 'GET', path, service, access },
  summary: 'Who is left out of the figures',
  description: narrowed,
  query: z.object({
    ...pageQuery,
    visitor_key: Text(200).optional().meta({ description: 'Only entries of this visitor' }),
    reason: CommaSeparated(BlacklistReason).optional().meta({ description: 'Comma-joined: for one of these reasons' }),
    location_ids: scopeQuery.location_ids.meta({
      description: 'Comma-joined ids: entries of these locations, without those of all locations',
    }),
  }),
  success: { status: 200, description: 'A page of entries, newest first', body: Page(BlacklistEntry) },
});

export const createBlacklistEntry = endpoint({
  ...{ operation: 'create_blacklist_entry', method: 'POST', path, service, access },
  summary: 'Leave a visitor out of the figures',
  description: `What was sent stays as it is, and counts again without the entry. ${narrowed}`,
  body: NewBlacklistEntry,
  idempotent: true,
  success: { status: 201, description: 'The entry', body: BlacklistEntry },
  problems: ['conflict', 'unprocessable'],
});

export const getBlacklistEntry = endpoint({
  ...{ operation: 'get_blacklist_entry', method: 'GET', path: `${path}/{id}`, service, access, params },
  summary: 'An entry of the blacklist',
  success: { status: 200, description: 'The entry', body: BlacklistEntry },
});

export const deleteBlacklistEntry = endpoint({
  ...{ operation: 'delete_blacklist_entry', method: 'DELETE', path: `${path}/{id}`, service, access, params },
  summary: 'Let a visitor count again',
  description: 'The figures are then those that they would be without the entry.',
  success: { status: 204, description: 'Deleted' },
});

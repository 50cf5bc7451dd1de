import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { Count, unchangeable } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { nextCursor, Page, pageQuery } from '../wire/pages.ts';
import { among, fixed, groupAdmins, nameQuery, readers } from './common.ts';
import { NewScreen, Screen, ScreenChange } from './places.resources.ts';
import { tagsFilter } from './tags.ts';

const service = 'organization';
const screenId = z.object({ id: id('screen') });

export const listScreens = endpoint({
  operation: 'list_screens',
  method: 'GET',
  path: '/v2/screens',
  service,
  summary: 'Screens',
  access: readers,
  query: z.object({
    ...pageQuery,
    group_ids: among('group', 'screens of locations in these groups'),
    location_ids: among('location', 'screens of these locations'),
    zone_ids: among('zone', 'screens of these zones'),
    tags: tagsFilter.optional().meta({ description: 'Comma-joined tags: screens that have one of them' }),
    query: nameQuery,
  }),
  success: { status: 200, description: 'A page of screens, oldest first', body: Page(Screen) },
});

export const createScreen = endpoint({
  operation: 'create_screen',
  method: 'POST',
  path: '/v2/screens',
  service,
  summary: 'Create a screen',
  description: 'By an owner or admin, or by an admin of the group that the zone is in.',
  access: groupAdmins,
  body: NewScreen,
  idempotent: true,
  success: { status: 201, description: 'The screen', body: Screen },
  problems: ['unprocessable'],
});

export const getScreen = endpoint({
  operation: 'get_screen',
  method: 'GET',
  path: '/v2/screens/{id}',
  service,
  summary: 'A screen',
  access: readers,
  params: screenId,
  success: { status: 200, description: 'The screen', body: Screen },
});

export const updateScreen = endpoint({
  operation: 'update_screen',
  method: 'PATCH',
  path: '/v2/screens/{id}',
  service,
  summary: 'Change a screen',
  description: 'A move to another zone needs the same right in both. A new size brings its orientation with it.',
  access: groupAdmins,
  params: screenId,
  body: ScreenChange.extend(fixed)
    .extend(unchangeable('location_id'))
    .meta({ id: 'ScreenChange', example: { tags: ['window', 'portrait'] } }),
  success: { status: 200, description: 'The screen', body: Screen },
  problems: ['conflict', 'unprocessable'],
});

export const deleteScreen = endpoint({
  operation: 'delete_screen',
  method: 'DELETE',
  path: '/v2/screens/{id}',
  service,
  summary: 'Delete a screen that is in no installation',
  access: groupAdmins,
  params: screenId,
  success: { status: 204, description: 'Deleted' },
  problems: ['conflict'],
});

export const matchScreens = endpoint({
  operation: 'match_screens',
  method: 'GET',
  path: '/v2/screens/match',
  service,
  summary: 'What a campaign would reach',
  description:
    'Each filter widens by its values and narrows beside the others. The counts are those of all pages. A caller has one search at a time, and an account two; further ones wait, and those that wait too long are 503.',
  access: readers,
  query: z.object({
    ...pageQuery,
    tags: tagsFilter.optional().meta({ description: 'Comma-joined tags: screens that have one of them' }),
    group_ids: among('group', 'screens of locations in these groups'),
    location_ids: among('location', 'screens of these locations'),
  }),
  turns: 'search',
  success: {
    status: 200,
    description: 'How many screens, in which groups, and a page of them, oldest first',
    body: z
      .object({
        total: Count,
        groups: z.array(z.object({ group_id: id('group'), screen_count: Count })),
        entries: z.array(Screen),
        next_cursor: nextCursor,
      })
      .meta({ id: 'ScreenMatch' }),
  },
});

import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { admins, among, fixed, groupAdmins, nameQuery, readers } from './common.ts';
import { Group, GroupChange, Location, LocationChange, NewGroup, NewLocation } from './resources.ts';

const service = 'organization';
const groupId = z.object({ id: id('group') });
const locationId = z.object({ id: id('location') });

export const listGroups = endpoint({
  operation: 'list_groups',
  method: 'GET',
  path: '/v2/groups',
  service,
  summary: 'Groups',
  access: readers,
  query: z.object({ ...pageQuery, query: nameQuery }),
  success: { status: 200, description: 'A page of groups, oldest first', body: Page(Group) },
});

export const createGroup = endpoint({
  operation: 'create_group',
  method: 'POST',
  path: '/v2/groups',
  service,
  summary: 'Create a group',
  access: admins,
  body: NewGroup,
  idempotent: true,
  success: { status: 201, description: 'The group', body: Group },
  problems: ['unprocessable'],
});

export const getGroup = endpoint({
  operation: 'get_group',
  method: 'GET',
  path: '/v2/groups/{id}',
  service,
  summary: 'A group',
  access: readers,
  params: groupId,
  success: { status: 200, description: 'The group', body: Group },
});

export const updateGroup = endpoint({
  operation: 'update_group',
  method: 'PATCH',
  path: '/v2/groups/{id}',
  service,
  summary: 'Change a group',
  access: admins,
  params: groupId,
  body: GroupChange.extend(fixed).meta({ id: 'GroupChange', example: { name: 'Zurich and around' } }),
  success: { status: 200, description: 'The group', body: Group },
  problems: ['conflict'],
});

export const deleteGroup = endpoint({
  operation: 'delete_group',
  method: 'DELETE',
  path: '/v2/groups/{id}',
  service,
  summary: 'Delete a group without locations',
  access: admins,
  params: groupId,
  success: { status: 204, description: 'Deleted' },
  problems: ['conflict'],
});

export const listLocations = endpoint({
  operation: 'list_locations',
  method: 'GET',
  path: '/v2/locations',
  service,
  summary: 'Locations',
  access: readers,
  query: z.object({
    ...pageQuery,
    group_ids: among('group', 'locations of these groups'),
    query: nameQuery,
  }),
  success: { status: 200, description: 'A page of locations, oldest first', body: Page(Location) },
});

export const createLocation = endpoint({
  operation: 'create_location',
  method: 'POST',
  path: '/v2/locations',
  service,
  summary: 'Create a location',
  description:
    'By an owner or admin, or by an admin of the group. Without `timezone`, but with coordinates, it gets the zone of these; 503 if that cannot be found out.',
  access: groupAdmins,
  body: NewLocation,
  idempotent: true,
  success: { status: 201, description: 'The location', body: Location },
  problems: ['unprocessable'],
});

export const getLocation = endpoint({
  operation: 'get_location',
  method: 'GET',
  path: '/v2/locations/{id}',
  service,
  summary: 'A location',
  access: readers,
  params: locationId,
  success: { status: 200, description: 'The location', body: Location },
});

export const updateLocation = endpoint({
  operation: 'update_location',
  method: 'PATCH',
  path: '/v2/locations/{id}',
  service,
  summary: 'Change or move a location',
  description: 'A move to another group needs the same right in both.',
  access: groupAdmins,
  params: locationId,
  body: LocationChange.extend(fixed).meta({
    id: 'LocationChange',
    example: { venue_type: 'retail.malls', status: 'inactive' },
  }),
  success: { status: 200, description: 'The location', body: Location },
  problems: ['conflict', 'unprocessable'],
});

export const deleteLocation = endpoint({
  operation: 'delete_location',
  method: 'DELETE',
  path: '/v2/locations/{id}',
  service,
  summary: 'Delete a location without zones and installations',
  access: groupAdmins,
  params: locationId,
  success: { status: 204, description: 'Deleted' },
  problems: ['conflict'],
});

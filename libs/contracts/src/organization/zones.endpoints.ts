import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { unchangeable } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { among, fixed, groupAdmins, nameQuery, readers } from './common.ts';
import { NewZone, Zone, ZoneChange } from './places.resources.ts';

const service = 'organization';
const zoneId = z.object({ id: id('zone') });

export const listZones = endpoint({
  operation: 'list_zones',
  method: 'GET',
  path: '/v2/zones',
  service,
  summary: 'Zones',
  access: readers,
  query: z.object({
    ...pageQuery,
    group_ids: among('group', 'zones of locations in these groups'),
    location_ids: among('location', 'zones of these locations'),
    query: nameQuery,
  }),
  success: { status: 200, description: 'A page of zones, oldest first', body: Page(Zone) },
});

export const createZone = endpoint({
  operation: 'create_zone',
  method: 'POST',
  path: '/v2/zones',
  service,
  summary: 'Create a zone',
  description: 'By an owner or admin, or by an admin of the group that the location is in.',
  access: groupAdmins,
  body: NewZone,
  idempotent: true,
  success: { status: 201, description: 'The zone', body: Zone },
  problems: ['unprocessable'],
});

export const getZone = endpoint({
  operation: 'get_zone',
  method: 'GET',
  path: '/v2/zones/{id}',
  service,
  summary: 'A zone',
  access: readers,
  params: zoneId,
  success: { status: 200, description: 'The zone', body: Zone },
});

export const updateZone = endpoint({
  operation: 'update_zone',
  method: 'PATCH',
  path: '/v2/zones/{id}',
  service,
  summary: 'Change a zone',
  description: 'A zone stays in its location.',
  access: groupAdmins,
  params: zoneId,
  body: ZoneChange.extend(fixed)
    .extend(unchangeable('location_id'))
    .meta({ id: 'ZoneChange', example: { name: 'Counter', kind: 'checkout' } }),
  success: { status: 200, description: 'The zone', body: Zone },
  problems: ['conflict'],
});

export const deleteZone = endpoint({
  operation: 'delete_zone',
  method: 'DELETE',
  path: '/v2/zones/{id}',
  service,
  summary: 'Delete a zone without screens and cameras',
  access: groupAdmins,
  params: zoneId,
  success: { status: 204, description: 'Deleted' },
  problems: ['conflict'],
});

import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { unchangeable } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { among, fixed, groupAdmins, nameQuery, readers } from './common.ts';
import { Installation, InstallationChange, NewInstallation } from './places.resources.ts';

const service = 'organization';
const installationId = z.object({ id: id('installation') });

export const listInstallations = endpoint({
  operation: 'list_installations',
  method: 'GET',
  path: '/v2/installations',
  service,
  summary: 'Installations',
  access: readers,
  query: z.object({
    ...pageQuery,
    group_ids: among('group', 'installations of locations in these groups'),
    location_ids: among('location', 'installations of these locations'),
    screen_ids: among('screen', 'installations of these screens'),
    device_ids: among('device', 'installations of these devices'),
    status: z.enum(['live', 'removed']).optional(),
    query: nameQuery,
  }),
  success: { status: 200, description: 'A page of installations, oldest first', body: Page(Installation) },
});

export const createInstallation = endpoint({
  operation: 'create_installation',
  method: 'POST',
  path: '/v2/installations',
  service,
  summary: 'Create an installation',
  description:
    'By an owner or admin, or by an admin of the group that the location is in. A device or a screen that is in another live installation: 409.',
  access: groupAdmins,
  body: NewInstallation,
  idempotent: true,
  success: { status: 201, description: 'The installation', body: Installation },
  problems: ['unprocessable'],
});

export const getInstallation = endpoint({
  operation: 'get_installation',
  method: 'GET',
  path: '/v2/installations/{id}',
  service,
  summary: 'An installation',
  access: readers,
  params: installationId,
  success: { status: 200, description: 'The installation', body: Installation },
});

export const updateInstallation = endpoint({
  operation: 'update_installation',
  method: 'PATCH',
  path: '/v2/installations/{id}',
  service,
  summary: 'Change an installation',
  description: 'Removed, it frees its device and its screens, and stays as a record.',
  access: groupAdmins,
  params: installationId,
  body: InstallationChange.extend(fixed)
    .extend(unchangeable('location_id', 'device_id', 'installed_at', 'removed_at'))
    .meta({ id: 'InstallationChange', example: { status: 'removed' } }),
  success: { status: 200, description: 'The installation', body: Installation },
  problems: ['conflict', 'unprocessable'],
});

export const deleteInstallation = endpoint({
  operation: 'delete_installation',
  method: 'DELETE',
  path: '/v2/installations/{id}',
  service,
  summary: 'Delete an installation',
  access: groupAdmins,
  params: installationId,
  success: { status: 204, description: 'Deleted' },
});

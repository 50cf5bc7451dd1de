import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { unchangeable } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { among, fixed, groupAdmins, nameQuery, readers } from './common.ts';
import { Camera, CameraChange, NewCamera } from './places.resources.ts';

const service = 'organization';
const cameraId = z.object({ id: id('camera') });

export const listCameras = endpoint({
  operation: 'list_cameras',
  method: 'GET',
  path: '/v2/cameras',
  service,
  summary: 'Cameras',
  access: readers,
  query: z.object({
    ...pageQuery,
    group_ids: among('group', 'cameras of locations in these groups'),
    location_ids: among('location', 'cameras of these locations'),
    zone_ids: among('zone', 'cameras of these zones'),
    query: nameQuery,
  }),
  success: { status: 200, description: 'A page of cameras, oldest first', body: Page(Camera) },
});

export const createCamera = endpoint({
  operation: 'create_camera',
  method: 'POST',
  path: '/v2/cameras',
  service,
  summary: 'Create a camera',
  description: 'By an owner or admin, or by an admin of the group that the zone is in.',
  access: groupAdmins,
  body: NewCamera,
  idempotent: true,
  success: { status: 201, description: 'The camera', body: Camera },
  problems: ['unprocessable'],
});

export const getCamera = endpoint({
  operation: 'get_camera',
  method: 'GET',
  path: '/v2/cameras/{id}',
  service,
  summary: 'A camera',
  access: readers,
  params: cameraId,
  success: { status: 200, description: 'The camera', body: Camera },
});

export const updateCamera = endpoint({
  operation: 'update_camera',
  method: 'PATCH',
  path: '/v2/cameras/{id}',
  service,
  summary: 'Change a camera',
  description: 'A move to another zone needs the same right in both.',
  access: groupAdmins,
  params: cameraId,
  body: CameraChange.extend(fixed)
    .extend(unchangeable('location_id'))
    .meta({ id: 'CameraChange', example: { name: 'Above the counter' } }),
  success: { status: 200, description: 'The camera', body: Camera },
  problems: ['conflict', 'unprocessable'],
});

export const deleteCamera = endpoint({
  operation: 'delete_camera',
  method: 'DELETE',
  path: '/v2/cameras/{id}',
  service,
  summary: 'Delete a camera',
  access: groupAdmins,
  params: cameraId,
  success: { status: 204, description: 'Deleted' },
});

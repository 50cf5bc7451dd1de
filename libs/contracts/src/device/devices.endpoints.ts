import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { CommaSeparated, JsonObject, Text, unchangeable } from '../wire/formats.ts';
import { type IdKind, id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { Device, DeviceDetail, DeviceName, deviceStatuses, Fault, Version } from './resources.ts';

const service = 'device';
const readers = { credential: 'any' } as const;
const admins = { credential: 'person', roles: ['owner', 'admin'] } as const;
const deviceId = z.object({ id: id('device') });
const flag = z.enum(['true', 'false']).optional();
const among = (kind: IdKind, description: string) =>
  CommaSeparated(id(kind))
    .optional()
    .meta({ description: `Comma-joined ids: ${description}` });

/** A device that nobody has claimed is in no account, so nobody can ask for it. */
const visibleStatus = z.enum(deviceStatuses).exclude(['manufactured']);

export const listDevices = endpoint({
  operation: 'list_devices',
  method: 'GET',
  path: '/v2/devices',
  service,
  summary: 'Devices',
  description: 'A caller narrowed to groups sees the devices that are installed in these groups.',
  access: readers,
  query: z.object({
    ...pageQuery,
    group_ids: among('group', 'devices installed in these groups'),
    location_ids: among('location', 'devices installed in these locations'),
    status: CommaSeparated(visibleStatus).optional().meta({ description: 'Comma-joined: devices in one of these' }),
    online: flag,
    query: Text(200).min(1).optional().meta({ description: 'Part of the name or serial, in any letter case' }),
  }),
  success: { status: 200, description: 'A page of devices, oldest first', body: Page(Device) },
});

export const getDevice = endpoint({
  operation: 'get_device',
  method: 'GET',
  path: '/v2/devices/{id}',
  service,
  summary: 'A device',
  access: readers,
  params: deviceId,
  success: { status: 200, description: 'The device, with its configuration and inventory', body: DeviceDetail },
});

export const updateDevice = endpoint({
  operation: 'update_device',
  method: 'PATCH',
  path: '/v2/devices/{id}',
  service,
  summary: 'Rename a device',
  access: admins,
  params: deviceId,
  body: z
    .object({ name: DeviceName.optional(), ...unchangeable('id', 'serial', 'status') })
    .meta({ id: 'DeviceChange', example: { name: 'Window left' } }),
  success: { status: 200, description: 'The device', body: Device },
  problems: ['conflict'],
});

export const claimDevice = endpoint({
  operation: 'claim_device',
  method: 'POST',
  path: '/v2/devices/claims',
  service,
  summary: 'Claim a device by its code',
  description:
    'The code is on the screen of the device (8 symbols) or on its label (16). Ten wrong codes within 15 minutes: 429 until these are over.',
  access: admins,
  body: z
    .object({
      claim_code: z.string().meta({ description: 'Case, hyphens and spaces do not matter', example: '7K3M-Q2XA' }),
      serial: z.string().optional().meta({ description: 'If given, that of the device' }),
      name: DeviceName.optional(),
    })
    .meta({ id: 'DeviceClaim', example: { claim_code: '7K3M-Q2XA', name: 'Window left' } }),
  idempotent: true,
  success: { status: 201, description: 'The device', body: Device },
  problems: ['not-found', 'conflict', 'rate-limited'],
});

export const changeDeviceConfig = endpoint({
  operation: 'change_device_config',
  method: 'PATCH',
  path: '/v2/devices/{id}/config',
  service,
  summary: 'Change what a device is to be configured as',
  description:
    'Up to 16 KiB and 8 levels. `heartbeat_interval_seconds` is 10 to 3,600, by default 60; all else is between you and the firmware.',
  access: admins,
  params: deviceId,
  body: z
    .object({
      desired: JsonObject().meta({ description: 'A merge patch (RFC 7396)' }),
      desired_version: Version.optional().meta({ description: 'The version that is changed; another one: 409' }),
    })
    .meta({ id: 'DeviceConfigChange', example: { desired: { volume: 40, heartbeat_interval_seconds: 30 } } }),
  success: {
    status: 200,
    description: 'The configuration',
    body: z
      .object({ desired: JsonObject(), desired_version: Version, applied_version: Version, in_sync: z.boolean() })
      .meta({ id: 'DeviceConfig' }),
  },
  problems: ['conflict'],
});

export const listDeviceFaults = endpoint({
  operation: 'list_device_faults',
  method: 'GET',
  path: '/v2/devices/{id}/faults',
  service,
  summary: 'Faults of a device',
  access: readers,
  params: deviceId,
  query: z.object({ ...pageQuery, open: flag }),
  success: { status: 200, description: 'A page of faults, newest first', body: Page(Fault) },
});

export const suspendDevice = endpoint({
  operation: 'suspend_device',
  method: 'POST',
  path: '/v2/devices/{id}/suspend',
  service,
  summary: 'Suspend a device',
  description: 'It keeps playing what it has, and is refused everything but its heartbeat.',
  access: admins,
  params: deviceId,
  success: { status: 200, description: 'The device', body: Device },
  problems: ['conflict'],
});

export const resumeDevice = endpoint({
  operation: 'resume_device',
  method: 'POST',
  path: '/v2/devices/{id}/resume',
  service,
  summary: 'Resume a suspended device',
  access: admins,
  params: deviceId,
  success: { status: 200, description: 'The device', body: Device },
  problems: ['conflict'],
});

export const retireDevice = endpoint({
  operation: 'retire_device',
  method: 'POST',
  path: '/v2/devices/{id}/retire',
  service,
  summary: 'Retire a device for good',
  description: 'All its certificates are revoked. While it is in a live installation: 409.',
  access: admins,
  params: deviceId,
  success: { status: 200, description: 'The device', body: Device },
  problems: ['conflict'],
});

export const revokeDeviceCertificate = endpoint({
  operation: 'revoke_device_certificate',
  method: 'POST',
  path: '/v2/devices/{id}/revoke-certificate',
  service,
  summary: 'Revoke the certificates of a device',
  description: 'The device may get another one by its key from the factory; suspend or retire it to lock it out.',
  access: admins,
  params: deviceId,
  body: z
    .object({ reason: z.enum(['key_compromise', 'unspecified']).default('key_compromise') })
    .prefault({})
    .meta({ id: 'CertificateRevocation' }),
  success: { status: 200, description: 'The device', body: Device },
  problems: ['conflict'],
});

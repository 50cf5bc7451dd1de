import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { Count, JsonObject, Timestamp } from '../wire/formats.ts';
import { refinedBy } from '../wire/refined-by.ts';
import { BatchResult } from './batch.ts';
import { CertificateAnswer, Csr } from './contact.resources.ts';
import { configFault, DeviceManifest, DeviceStatus, Inventory, Version } from './resources.ts';

const service = 'device';
const device = { credential: 'device' } as const;

export const sendHeartbeat = endpoint({
  operation: 'send_heartbeat',
  method: 'POST',
  path: '/v2/device/heartbeat',
  service,
  summary: 'I am here',
  access: { ...device, even_suspended: true },
  body: z
    .object({
      firmware_version: z.string().max(100).optional(),
      uptime_seconds: z.number().min(0).optional(),
      manifest_version: Count.optional(),
      applied_version: Version.optional(),
      clock: Timestamp.optional(),
    })
    .prefault({}),
  success: {
    status: 200,
    description: 'What there is to know',
    body: z.object({
      server_time: Timestamp,
      status: DeviceStatus,
      desired_version: Version,
      manifest_version: Count,
      renew_after: Timestamp,
      heartbeat_interval_seconds: z.int(),
    }),
  },
  problems: ['conflict'],
});

export const getOwnConfig = endpoint({
  operation: 'get_own_config',
  method: 'GET',
  path: '/v2/device/config',
  service,
  summary: 'How I am to be configured',
  access: device,
  success: {
    status: 200,
    description: 'What is desired, and what was reported',
    body: z.object({
      desired: JsonObject(),
      desired_version: Version,
      reported: JsonObject(),
      reported_version: Version,
      applied_version: Version,
    }),
  },
});

export const reportConfig = endpoint({
  operation: 'report_config',
  method: 'PUT',
  path: '/v2/device/config/reported',
  service,
  summary: 'How I am configured',
  description: 'The same report again gets the same answer.',
  access: device,
  body: z.object({
    reported: JsonObject().check(
      refinedBy((value, context) => {
        const fault = configFault(value);
        if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
      }),
    ),
    reported_version: Version.meta({ description: 'The one that it replaces' }),
    applied_version: Version.meta({ description: 'The desired version that is in force' }),
  }),
  success: {
    status: 200,
    description: 'The versions now',
    body: z.object({
      reported_version: Version,
      applied_version: Version,
      desired_version: Version,
      in_sync: z.boolean(),
    }),
  },
  problems: ['conflict'],
});

export const getOwnManifest = endpoint({
  operation: 'get_own_manifest',
  method: 'GET',
  path: '/v2/device/manifest',
  service,
  summary: 'What I am to play',
  description: 'While it cannot be made anew, the one that was given last is given again.',
  access: device,
  query: z.object({
    known_version: z
      .string()
      .regex(/^\d{1,15}$/, 'must be a whole number')
      .transform(Number)
      .optional()
      .meta({ type: 'integer', minimum: 0, description: 'The version that the device has' }),
  }),
  headers: z.object({ 'if-none-match': z.string().optional() }),
  success: { status: 200, description: 'The manifest, with its version as the ETag', body: DeviceManifest },
  also: { status: 204, description: 'The known version is the current one' },
});

export const sendInventory = endpoint({
  operation: 'send_inventory',
  method: 'POST',
  path: '/v2/device/inventory',
  service,
  summary: 'What I consist of',
  access: device,
  body: Inventory.prefault({}),
  max_body_bytes: 64 * 1024,
  success: { status: 204, description: 'It replaces the former one' },
});

export const sendFaults = endpoint({
  operation: 'send_faults',
  method: 'POST',
  path: '/v2/device/faults',
  service,
  summary: 'What is wrong with me, or is no longer',
  description: 'Each item stands alone.',
  access: device,
  body: z.object({ faults: z.array(z.unknown()).min(1, 'must have at least 1 value').max(100) }),
  items_apart: 'faults',
  success: {
    status: 202,
    description: 'What has become of the items',
    body: BatchResult,
  },
});

export const renewCertificate = endpoint({
  operation: 'renew_certificate',
  method: 'POST',
  path: '/v2/device/certificate/renew',
  service,
  summary: 'The next certificate',
  description: 'The present one stays good until the new one is first used.',
  access: device,
  body: z.object({ csr: Csr }),
  success: { status: 200, description: 'The certificate', body: CertificateAnswer },
  problems: ['conflict'],
});

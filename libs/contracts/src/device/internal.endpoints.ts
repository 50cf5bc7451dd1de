import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { Count, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { type ProblemKind, problemKinds } from '../wire/problems.ts';
import { sendHeartbeat } from './device.endpoints.ts';
import { DeviceStatus, FactoryList, Fingerprint, relayedMost, relayedTextMax } from './resources.ts';

const service = 'device';

export const importDevices = endpoint({
  operation: 'import_devices',
  method: 'POST',
  path: '/internal/v2/devices/import',
  service,
  summary: "Take over a maker's list of devices",
  description: 'Each item stands alone. The same list again changes nothing.',
  access: { credential: 'internal', callers: ['device'] },
  body: FactoryList,
  items_apart: 'devices',
  /** A thousand items with keys of 4 KiB. */
  max_body_bytes: 8 * 1024 * 1024,
  success: {
    status: 200,
    description: 'How many were created and known, and which were not accepted',
    body: z
      .object({
        created: Count,
        unchanged: Count,
        rejected: z.array(z.object({ index: Count, detail: z.string() })),
      })
      .meta({ id: 'DeviceImport' }),
  },
});

/** The ingress asks when a device has shown a certificate: that is its first use. */
export const findDeviceCertificate = endpoint({
  operation: 'find_device_certificate',
  method: 'GET',
  path: '/internal/v2/device-certificates/{fingerprint}',
  service,
  summary: 'Whose certificate it is, and whether it is in force',
  description: 'Counts as a use of the certificate: the former one of the device is then revoked.',
  access: { credential: 'internal', callers: ['ingress'] },
  params: z.object({ fingerprint: Fingerprint }),
  success: {
    status: 200,
    description: 'The certificate, and the state of its device',
    body: z.object({
      device_id: id('device'),
      account_id: id('account'),
      device_status: DeviceStatus,
      certificate_status: z.enum(['live', 'revoked']),
      not_after: Timestamp,
    }),
  },
});

/**
 * Heartbeats that reached the ingress while others were on their way (ADR 42). Each is a device's own: its certificate is
 * judged, its body validated and its result given as if it had come by itself.
 */
export const relayHeartbeats = endpoint({
  operation: 'relay_heartbeats',
  method: 'POST',
  path: '/internal/v2/device-heartbeats',
  service,
  summary: 'Heartbeats that devices have sent',
  description: 'Each item stands alone. The results are in the order of the heartbeats.',
  access: { credential: 'internal', callers: ['ingress'] },
  body: z.object({
    heartbeats: z
      .array(
        z.object({
          fingerprint: Fingerprint,
          body: z.string().max(relayedTextMax).meta({ description: 'As the device sent it, empty if it sent none' }),
        }),
      )
      .min(1)
      .max(relayedMost),
  }),
  items_apart: 'heartbeats',
  /** A character takes six bytes at most, as an escape sequence. */
  max_body_bytes: 1024 * 1024,
  success: {
    status: 200,
    description: 'What each device is answered',
    body: z.object({
      results: z.array(
        z.union([
          z.object({ heartbeat: sendHeartbeat.success.body }),
          z.object({
            problem: z.object({
              kind: z.enum(Object.keys(problemKinds) as [ProblemKind, ...ProblemKind[]]),
              detail: z.string(),
              headers: z.record(z.string(), z.string()),
            }),
          }),
        ]),
      ),
    }),
  },
});

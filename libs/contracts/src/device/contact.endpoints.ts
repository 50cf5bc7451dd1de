import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { Timestamp } from '../wire/formats.ts';
import { CertificateAnswer, Csr } from './contact.resources.ts';

const service = 'device';
const factory = { credential: 'factory' } as const;
const perMinute = { window_seconds: 60, limit: 300, counts: 'requests' } as const;

/** Optional, because whoever signs nothing gets the same answer as whoever signs wrongly. */
const signatureHeader = z.object({
  'x-device-signature': z
    .string()
    .optional()
    .meta({ description: 'Base64 of the signature of the bytes of the body, by the key from the factory' }),
});

const serial = z.string().min(4).max(64);
export const challengeDevice = endpoint({
  operation: 'challenge_device',
  method: 'POST',
  path: '/v2/device/challenges',
  service,
  summary: 'A nonce for the first contact',
  access: factory,
  rate_limit: perMinute,
  headers: signatureHeader,
  body: z.object({ serial, timestamp: Timestamp }),
  success: {
    status: 200,
    description: 'A nonce of this device, which works once and for 5 minutes',
    body: z.object({ nonce: z.string(), expires_at: Timestamp, server_time: Timestamp }),
  },
});

export const bootstrapDevice = endpoint({
  operation: 'bootstrap_device',
  method: 'POST',
  path: '/v2/device/bootstrap',
  service,
  summary: 'The first certificate, or the code to be claimed by',
  access: factory,
  rate_limit: perMinute,
  headers: signatureHeader,
  body: z.object({ serial, nonce: z.string(), timestamp: Timestamp, csr: Csr }),
  success: { status: 200, description: 'The certificate', body: CertificateAnswer },
  also: {
    status: 202,
    description: 'Nobody has claimed the device: it shows this code, and asks again',
    body: z.object({
      status: z.literal('unclaimed'),
      claim_code: z.string(),
      claim_code_expires_at: Timestamp,
      retry_after: z.int().meta({ description: 'Seconds' }),
      server_time: Timestamp,
    }),
  },
});

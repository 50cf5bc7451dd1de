import { z } from 'zod';
import { Timestamp } from './wire/formats.ts';
import { id } from './wire/ids.ts';

/** A record on its way to the audit log: at most 4 KiB as JSON, without secrets and without the values of fields. */
export const AuditEntry = z.object({
  /** The same for each repetition of one record, which the log keeps once. */
  id: z.uuid(),
  account_id: id('account'),
  occurred_at: Timestamp,
  /** The operation of the endpoint, or `<subject>.<action>`. */
  action: z.string().min(1).max(100),
  outcome: z.enum(['done', 'refused']),
  actor: z.object({
    type: z.enum(['person', 'api_key', 'service', 'support']),
    id: z.string().max(200),
  }),
  subject: z.object({ type: z.string().max(100), id: z.string().max(300) }).nullable(),
  ip: z.string().max(64).nullable(),
  user_agent: z.string().max(300).nullable(),
  /** The `X-Request-Id`, which a client may have chosen. */
  request_id: z.string().max(128).nullable(),
  /** The request's id that the platform made. */
  platform_request_id: z.uuid().nullable(),
  details: z.record(z.string(), z.unknown()),
});
export type AuditEntry = z.output<typeof AuditEntry>;

import { auditEvents } from '@attribution/contracts';
import { onBatch } from '@attribution/messaging';
import { keepEntries } from './audit.store.ts';

/** Takes the records of the other services into the log. Their events are in no order, and the log shows them by id. */
export const onAuditRecords = Object.values(auditEvents).map((event) =>
  onBatch(event, (tx, records) =>
    keepEntries(
      tx,
      records.map(({ data }) => data),
    ),
  ),
);

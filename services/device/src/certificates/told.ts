import { certificateIssued, certificateRevoked, type RevocationReason } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import type { CertificateRow } from './certificate.store.ts';

interface About {
  readonly deviceId: string;
  readonly accountId: string;
}

/** The event of an issued certificate. */
export const issuedEvent = ({ deviceId, accountId }: About, row: CertificateRow, now: Date) =>
  newEvent(
    certificateIssued,
    {
      device_id: deviceId,
      account_id: accountId,
      fingerprint: row.fingerprint,
      not_after: row.not_after.toISOString(),
    },
    { accountId, occurredAt: now },
  );

/** The events of revoked certificates. */
export const revokedEvents = (
  { deviceId, accountId }: About,
  fingerprints: readonly string[],
  reason: RevocationReason,
  now: Date,
) =>
  fingerprints.map((fingerprint) =>
    newEvent(
      certificateRevoked,
      { device_id: deviceId, account_id: accountId, fingerprint, reason },
      { accountId, occurredAt: now },
    ),
  );

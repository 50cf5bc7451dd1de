import type { KeyObject } from 'node:crypto';
import type { Signing } from '@attribution/certificates';
import type { Sql } from '@attribution/database';
import { countIssued } from '../devices/index.ts';
import { insertCertificate, revoke } from './certificate.store.ts';
import { issue } from './issue.ts';
import { issuedEvent, revokedEvents } from './told.ts';

interface Wanted {
  readonly signing: Signing & { readonly chain: readonly string[] };
  readonly key: KeyObject;
  readonly now: Date;
}

/**
 * Issues the next certificate of a device that is locked. It takes the place of one that was issued and never used, so at
 * most two are in force. Returns it with the events that are to be told.
 */
export async function issueNext(
  tx: Sql,
  device: { readonly id: string; readonly account_id: string; readonly certificates_issued: number },
  { signing, key, now }: Wanted,
) {
  const number = device.certificates_issued + 1;
  const about = { deviceId: device.id, accountId: device.account_id };
  const replaced = await revoke(tx, { deviceId: device.id, unused: true }, 'superseded', now);
  const { row, answer } = issue(signing, { id: device.id, number }, key, now);
  await insertCertificate(tx, row);
  await countIssued(tx, device.id, number);
  return { answer, events: [...revokedEvents(about, replaced, 'superseded', now), issuedEvent(about, row, now)] };
}

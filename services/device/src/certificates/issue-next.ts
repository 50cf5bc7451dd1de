import type { KeyObject } from 'node:crypto';
import type { Signing } from '@attribution/certificates';
import { type DeviceStatus, deviceActivated } from '@attribution/contracts';
import { newEvent, type Outbox, type RowEvent } from '@attribution/messaging';
import { inBatches } from '@attribution/runtime';
import type { DeviceDatabase } from '../store.ts';
import { issue } from './issue.ts';
import { issuing, type NextCertificate, type Proof } from './issuing.store.ts';
import { issuedEvent, revokedEvents } from './told.ts';

interface Dependencies {
  readonly database: DeviceDatabase;
  readonly outbox: Outbox;
}

/** A device as it was found. */
interface Found {
  readonly id: string;
  readonly account_id: string;
  readonly certificates_issued: number;
  /** Null: it does not matter. */
  readonly status: DeviceStatus | null;
  /** The certificates in force that nobody has used. */
  readonly unused: readonly string[];
}

interface Wanted {
  readonly signing: Signing & { readonly chain: readonly string[] };
  readonly key: KeyObject;
  /** The nonce, or the fingerprint of the present certificate. */
  readonly proof: string;
  readonly now: Date;
}

/**
 * Issues the next certificate of a device. It takes the place of one that was issued and never used, so at most two are in
 * force. Returns undefined, and changes nothing, if the proof does not hold or the device is no longer as it was found.
 */
export type IssueNext = (device: Found, wanted: Wanted) => Promise<ReturnType<typeof issue>['answer'] | undefined>;

/** Certificates that are wanted at the same time are written by one statement. */
export function createIssueNext({ database, outbox }: Dependencies, by: Proof): IssueNext {
  const write = inBatches(async (all: readonly NextCertificate[]) => {
    // Of two for one device the second has come too late, as if it had waited for the first.
    const next = [...new Map(all.toReversed().map((one) => [one.row.device_id, one])).values()];
    const statement = issuing(by, next);
    const written = await outbox.appendWith<{ readonly id: string }>(database.sql, statement, next.flatMap(eventsOf));
    const done = new Set(written.map(({ id }) => id));
    return all.map((one) => next.includes(one) && done.has(one.row.device_id));
  });

  return async ({ id, account_id, certificates_issued, status, unused }, { signing, key, proof, now }) => {
    const { row, answer } = issue(signing, { id, number: certificates_issued + 1 }, key, now);
    return (await write({ row, account_id, status, proof, replaced: unused, now })) ? answer : undefined;
  };
}

/** The events of a certificate, each with the row without whose change it is not told. */
function eventsOf({ row, account_id: accountId, status, replaced, now }: NextCertificate): RowEvent[] {
  const about = { deviceId: row.device_id, accountId };
  const ofDevice = { device_id: row.device_id, account_id: accountId };
  const activated = status === 'claimed' ? [newEvent(deviceActivated, ofDevice, { accountId, occurredAt: now })] : [];
  const revoked = revokedEvents(about, replaced, 'superseded', now);
  return [
    ...activated.map((event) => ({ id: row.device_id, event })),
    ...revoked.map((event, at) => ({ id: replaced[at] ?? '', event })),
    { id: row.device_id, event: issuedEvent(about, row, now) },
  ];
}

import { refusedContact } from '@attribution/contracts';
import { type Clock, inBatches } from '@attribution/runtime';
import type { DeviceDatabase } from '../store.ts';
import { type Contact, findContacts } from './contact.store.ts';
import type { SignatureJudge } from './signature.ts';

export interface Judging {
  readonly database: DeviceDatabase;
  readonly clock: Clock;
  readonly signatures: SignatureJudge;
}

interface SignedRequest {
  readonly serial: string;
  readonly bytes: Buffer;
  readonly signature: string | undefined;
  /** For what needs one. */
  readonly nonce?: string;
  readonly timestamp?: string;
}

/** How far the timestamp of a device may be from ours, in milliseconds. */
const toleranceMs = 300_000;

export interface Judged {
  readonly contact: Contact;
  readonly now: Date;
}

/**
 * Finds the device that has signed a request. Throws the one refusal for any other request, and takes as long for each: it
 * looks up the device and the nonce, checks a signature, and only then judges. Requests that come at once are looked up
 * together.
 */
export function createJudge({ database, clock, signatures }: Judging): (request: SignedRequest) => Promise<Judged> {
  const find = inBatches((asked: Parameters<typeof findContacts>[1]) => findContacts(database.sql, asked));

  return async ({ serial, bytes, signature, nonce, timestamp }) => {
    const now = clock.now();
    const contact = await find({ serial, nonce: nonce ?? '', now });
    const signed = signatures.accepts(contact?.public_key, serial, bytes, signature);
    const inTime = timestamp === undefined || Math.abs(Date.parse(timestamp) - now.getTime()) <= toleranceMs;
    const fresh = nonce === undefined || contact?.nonce_good === true;
    if (contact && signed && inTime && fresh && mayContact(contact)) return { contact, now };
    throw refusedContact();
  };
}

const mayContact = ({ status, account_closed }: Contact): boolean =>
  status !== 'suspended' && status !== 'retired' && !account_closed;

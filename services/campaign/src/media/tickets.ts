import { createHmac, timingSafeEqual } from 'node:crypto';
import { Problem } from '@attribution/contracts';

/** What an upload URL allows: one PUT of these bytes. */
export interface UploadTicket {
  readonly asset: string;
  /** null: the whole file. */
  readonly part: number | null;
  readonly bytes: number;
}

/** What the URL of a file shows. It needs no look at the database. */
export interface FileTicket {
  readonly key: string;
  readonly media: string;
  readonly bytes: number;
}

interface Tickets {
  upload: UploadTicket;
  file: FileTicket;
}

export interface Signer {
  /** A text for the query of a URL. */
  sign<K extends keyof Tickets>(kind: K, ticket: Tickets[K], expiresAt: Date): string;
  /** Throws `forbidden` for a ticket that was altered, has expired, or is of another kind. */
  verify<K extends keyof Tickets>(kind: K, ticket: string, now: Date): Tickets[K];
}

/** Signs what URLs stand for, with HMAC-SHA-256. */
export function createSigner(secret: string): Signer {
  const signatureOf = (payload: string) => createHmac('sha256', secret).update(payload).digest();
  const refused = new Problem('forbidden', 'The URL has expired, or is not as it was given.');

  return {
    sign(kind, ticket, expiresAt) {
      const payload = Buffer.from(JSON.stringify([kind, expiresAt.getTime(), ticket])).toString('base64url');
      return `${payload}.${signatureOf(payload).toString('base64url')}`;
    },
    verify(kind, ticket, now) {
      const [payload = '', signature = '', ...more] = ticket.split('.');
      const given = Buffer.from(signature, 'base64url');
      const right = signatureOf(payload);
      // Decoding ignores what is not base64url, so the text is compared too.
      const genuine = given.length === right.length && timingSafeEqual(given, right);
      if (!genuine || more.length > 0 || right.toString('base64url') !== signature) throw refused;
      const [ofKind, expires, content] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as unknown[];
      if (ofKind !== kind || typeof expires !== 'number' || expires <= now.getTime()) throw refused;
      return content as never;
    },
  };
}

import type { RequestContext } from '@attribution/http';
import type { Clock } from '@attribution/runtime';
import { type MailQueue, type Notice, noticeMail } from '../mail/index.ts';
import type { Tx } from '../store.ts';
import { addressRange } from './address-range.ts';
import { findAddressee, rememberRange } from './notice.store.ts';

/** Days for which a range is remembered after the last sign-in from it. */
export const rangeDays = 180;

/** Tells people by mail what has happened to their credentials, in the transaction in which it happens (decision 47). */
export interface Notices {
  tell(tx: Tx, userId: string, notice: Notice, request: Pick<RequestContext, 'ip'>): Promise<void>;
  /** Tells the user when the request is the first sign-in from its range of addresses, except the very first one. */
  noteSignIn(tx: Tx, userId: string, request: Pick<RequestContext, 'ip'>): Promise<void>;
}

export function createNotices({ mail, clock }: { mail: MailQueue; clock: Clock }): Notices {
  const notices: Notices = {
    async tell(tx, userId, notice, { ip }) {
      const user = await findAddressee(tx, userId);
      if (!user) return;
      await mail.enqueue(
        tx,
        noticeMail({ to: user.email, fullName: user.full_name, notice, happenedAt: clock.now(), ip }),
      );
    },
    async noteSignIn(tx, userId, request) {
      if (await rememberRange(tx, userId, addressRange(request.ip), clock.now()))
        await notices.tell(tx, userId, { kind: 'new_range' }, request);
    },
  };
  return notices;
}

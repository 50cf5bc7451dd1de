import { afterCommit } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import type { Logger } from 'pino';
import type { AccountDatabase, Tx } from '../store.ts';
import type { Vault } from '../vault.ts';
import type { Mail, MailSender } from './mail.ts';
import { deleteMail, insertMail, postponeMail, type QueuedMail, takeDueMail } from './mail-queue.store.ts';

export const mailJob = 'send-mail';

const purpose = 'queued mail';
const minute = 60_000;
/** Codes are valid for minutes, so a message is no longer useful after a day. */
const keptFor = 24 * 60 * minute;
/** After this time a message whose sender crashed is sent by another worker. */
const lease = minute;

export interface MailQueue {
  /**
   * Queues a message in the transaction of its cause: it is sent if and only if that transaction is committed. With `drop`
   * it does the same work for a message that nobody shall get.
   */
  enqueue(tx: Tx, mail: Mail, options?: { readonly drop?: boolean }): Promise<void>;
  /** Sends all messages that are due. */
  sendDue(): Promise<void>;
}

export function createMailQueue(deps: {
  database: AccountDatabase;
  sender: MailSender;
  vault: Vault;
  clock: Clock;
  logger: Logger;
  wake: () => void;
}): MailQueue {
  const { database, sender, vault, clock, logger } = deps;

  /**
   * Sends one message. No transaction is open meanwhile, because a mail server may be slow. After a crash between
   * sending and deleting, the message is sent twice, which is better than never.
   */
  async function sendNext(): Promise<boolean> {
    const now = clock.now();
    const queued = await takeDueMail(database.prisma, now, new Date(now.getTime() + lease));
    if (!queued) return false;
    const failure = await sendOne(queued).then(
      () => undefined,
      (error: unknown) => describe(error),
    );
    const { id, attempts, created_at } = queued;
    const expired = now.getTime() - created_at.getTime() > keptFor;
    if (failure !== undefined) {
      logger.warn(
        { reason: failure, mail_id: String(id), attempts: attempts + 1, expired },
        'A message could not be sent',
      );
    }
    if (failure === undefined || expired) await deleteMail(database.prisma, id);
    else await postponeMail(database.prisma, id, { error: failure, nextAttemptAt: nextAttempt(now, attempts) });
    return true;
  }

  async function sendOne({ content }: QueuedMail): Promise<void> {
    await sender.send(JSON.parse(vault.decrypt(content, purpose)) as Mail);
  }

  return {
    async enqueue(tx, mail, { drop = false } = {}) {
      await insertMail(tx, vault.encrypt(JSON.stringify(mail), purpose), { now: clock.now(), drop });
      afterCommit(tx, deps.wake);
    },
    async sendDue() {
      while (await sendNext());
    },
  };
}

/** 5 s, 10 s, 20 s … to 10 minutes. */
function nextAttempt(now: Date, attempts: number): Date {
  return new Date(now.getTime() + Math.min(5_000 * 2 ** attempts, 10 * minute));
}

/** Errors of mail servers and file systems contain the recipient's address, which must not be logged. */
function describe(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replaceAll(/[^\s<>"']+@[^\s<>"']+/g, '[address]').slice(0, 500);
}

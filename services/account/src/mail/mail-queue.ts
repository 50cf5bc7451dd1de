import { afterCommit } from '@attribution/database';
import type { Clock } from '@attribution/service';
import type { Logger } from 'pino';
import type { AccountDatabase, Tx } from '../store.ts';
import type { Vault } from '../vault.ts';
import type { Mail, MailSender } from './mail.ts';
import { deleteMail, insertMail, lockDueMail, postponeMail } from './mail-queue.store.ts';

export const mailJob = 'send-mail';

const purpose = 'queued mail';
const minute = 60_000;
/** Codes live minutes: after a day nobody waits for the message. */
const keptFor = 24 * 60 * minute;

export interface MailQueue {
  /** Queues a message in the transaction of what it tells of: it is sent if, and only if, that is committed. */
  enqueue(tx: Tx, mail: Mail): Promise<void>;
  /** Sends what is due. */
  sendDue(): Promise<void>;
}

export function createMailQueue(parts: {
  database: AccountDatabase;
  sender: MailSender;
  vault: Vault;
  clock: Clock;
  logger: Logger;
  wake: () => void;
}): MailQueue {
  const { database, sender, vault, clock, logger } = parts;

  /** One message. A crash after sending and before the commit sends it twice: better than never. */
  async function sendNext(): Promise<boolean> {
    return database.transaction(async (tx) => {
      const now = clock.now();
      const queued = await lockDueMail(tx, now);
      if (!queued) return false;
      try {
        await sender.send(JSON.parse(vault.decrypt(queued.content, purpose)) as Mail);
        await deleteMail(tx, queued.id);
      } catch (error) {
        const expired = now.getTime() - queued.created_at.getTime() > keptFor;
        logger.warn({ err: error, mail_id: String(queued.id), attempts: queued.attempts + 1, expired }, 'A message could not be sent');
        if (expired) await deleteMail(tx, queued.id);
        else await postponeMail(tx, queued.id, { error: messageOf(error), nextAttemptAt: nextAttempt(now, queued.attempts) });
      }
      return true;
    });
  }

  return {
    async enqueue(tx, mail) {
      await insertMail(tx, vault.encrypt(JSON.stringify(mail), purpose), clock.now());
      afterCommit(tx, parts.wake);
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

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error)).slice(0, 500);

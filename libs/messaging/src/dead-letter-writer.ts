import type { Database, SqlTransaction } from '@attribution/database';
import type { Logger } from 'pino';
import type { DeadLetters } from './dead-letters.ts';
import { traceFieldsOf } from './spans.ts';
import { asError, type Message } from './transport.ts';
import type { Unreadable } from './unreadable.ts';

export interface DeadLetterWriterOptions<Tx extends SqlTransaction> {
  readonly database: Pick<Database<SqlTransaction, Tx>, 'transaction'>;
  readonly deadLetters: DeadLetters;
  readonly logger: Logger;
  /** Called for each new dead letter. */
  readonly onDeadLetter: (() => void) | undefined;
}

/** Stores what could not be handled as dead letters, each in a transaction of its own. */
export class DeadLetterWriter<Tx extends SqlTransaction> {
  readonly #options: DeadLetterWriterOptions<Tx>;

  constructor(options: DeadLetterWriterOptions<Tx>) {
    this.#options = options;
  }

  async bury(message: Message, cause: unknown, attempts: number): Promise<void> {
    const { database, deadLetters } = this.#options;
    const isNew = await database.transaction((tx) => deadLetters.bury(tx, message, cause, attempts));
    const { event_id, type } = message.envelope;
    const error = asError(cause).message.slice(0, 2000);
    const fields = { event_id, type, attempts, error, ...traceFieldsOf(message.envelope) };
    this.#note(isNew, fields, 'An event lies among the dead letters');
  }

  /** As `Subscription.setAside`. */
  async setAside(unreadable: Unreadable): Promise<void> {
    const { database, deadLetters } = this.#options;
    const isNew = await database.transaction((tx) => deadLetters.setAside(tx, unreadable));
    const { topic, partition, offset, reason: error } = unreadable;
    this.#note(isNew, { topic, partition, offset, error }, 'A message that is no event lies among the dead letters');
  }

  /** One that is not new was stored by an earlier delivery, whose offset was not committed in time. */
  #note(isNew: boolean, fields: object, message: string): void {
    if (!isNew) return;
    this.#options.logger.error(fields, message);
    this.#options.onDeadLetter?.();
  }
}

import type { Producer, ProducerBatch } from 'kafkajs';
import type { Logger } from 'pino';
import { isSpent } from './broker-errors.ts';

/** A producer that is replaced by a new one when it can no longer be used. What is sent again is the caller's decision. */
export function createReplaceableProducer(create: () => Producer, logger: Logger) {
  let producer = create();
  let spent = false;
  let replacing: Promise<void> | undefined;

  async function replace(): Promise<void> {
    const fresh = create();
    try {
      await fresh.connect();
    } catch (error) {
      await fresh.disconnect().catch(() => {});
      throw error;
    }
    const old = producer;
    producer = fresh;
    spent = false;
    logger.warn('The Kafka producer was spent: another has taken its place');
    await old.disconnect().catch(() => {});
  }

  return {
    connect: () => producer.connect(),
    disconnect: () => producer.disconnect(),
    async send(batch: ProducerBatch): Promise<void> {
      if (spent) {
        replacing ??= replace().finally(() => {
          replacing = undefined;
        });
        await replacing;
      }
      try {
        await producer.sendBatch(batch);
      } catch (error) {
        if (isSpent(error)) spent = true;
        throw error;
      }
    },
  };
}

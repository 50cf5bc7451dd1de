import { asError, type Message, orderingKey, type PublishResult, splitByKey } from '@attribution/messaging';
import type { ProducerBatch, TopicMessages } from 'kafkajs';
import { isRefusal } from './broker-errors.ts';

interface Sender {
  send(batch: ProducerBatch): Promise<void>;
}

/** Sends events to their topics, and reports which of them all in-sync replicas have. */
export class Publisher {
  readonly #sender: Sender;
  readonly #prefix: string;

  constructor(sender: Sender, prefix: string) {
    this.#sender = sender;
    this.#prefix = prefix;
  }

  async publish(messages: readonly Message[]): Promise<PublishResult> {
    const [first] = messages;
    if (!first) return { acknowledged: [], failed: [] };
    try {
      await this.#sender.send({ topicMessages: this.#topicMessages(messages), acks: -1, timeout: 10_000 });
      return { acknowledged: messages.map((message) => message.envelope.event_id), failed: [] };
    } catch (error) {
      if (messages.length > 1 && isRefusal(error)) return this.#publishInHalves(messages);
      // Which partitions have stored their events is not known: all of them are sent again.
      const cause = asError(error);
      const failed = splitByKey(messages).map(([message = first]) => ({ message, error: cause }));
      return { acknowledged: [], failed };
    }
  }

  #topicMessages(messages: readonly Message[]): TopicMessages[] {
    const byTopic = Map.groupBy(messages, (message) => message.topic);
    return [...byTopic].map(([topic, group]) => ({ topic: this.#prefix + topic, messages: group.map(toKafkaMessage) }));
  }

  /** One event that the broker refuses, or a batch that is too large, must not keep back what is published with it. */
  async #publishInHalves(messages: readonly Message[]): Promise<PublishResult> {
    const middle = Math.ceil(messages.length / 2);
    const first = await this.publish(messages.slice(0, middle));
    const failedKeys = new Set(first.failed.map(({ message }) => orderingKey(message)));
    const rest = messages.slice(middle).filter((message) => !failedKeys.has(orderingKey(message)));
    const second = await this.publish(rest);
    return {
      acknowledged: [...first.acknowledged, ...second.acknowledged],
      failed: [...first.failed, ...second.failed],
    };
  }
}

const toKafkaMessage = ({ envelope }: Message) => ({
  key: envelope.key,
  value: JSON.stringify(envelope),
  headers: {
    event_id: envelope.event_id,
    type: envelope.type,
    ...(envelope.traceparent && { traceparent: envelope.traceparent }),
  },
});

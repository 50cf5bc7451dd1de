import {
  asError,
  type Failure,
  type Message,
  messagesLeft,
  type Subscription,
  splitByKey,
  type Transport,
} from './transport.ts';

/**
 * Carries events within one process, fed by the same outbox as Kafka: a message is acknowledged when every subscriber
 * has dealt with it, so the outbox keeps it across a crash.
 */
export function createInProcessTransport(): Transport {
  const subscriptions: Subscription[] = [];
  let consuming = false;

  async function deliver({ handle }: Subscription, messages: readonly Message[]): Promise<readonly Failure[]> {
    try {
      if (!consuming) throw new Error('The subscribers are not running');
      // As over a wire: no subscriber sees another's objects.
      return await handle(JSON.parse(JSON.stringify(messages)) as Message[]);
    } catch (error) {
      return splitByKey(messages).flatMap(([message]) => (message ? [{ message, error: asError(error) }] : []));
    }
  }

  return {
    declare() {},
    subscribe(subscription) {
      subscriptions.push(subscription);
    },
    async start() {
      consuming = true;
    },
    async publish(messages) {
      const errors = new Map<string, Error>();
      const waiting = new Set<string>();
      const deliveries = subscriptions.map(async (subscription) => {
        const wanted = messages.filter(({ topic }) => subscription.topics.includes(topic));
        const failures = wanted.length > 0 ? await deliver(subscription, wanted) : [];
        for (const { message, error } of failures) errors.set(message.envelope.event_id, error);
        for (const { envelope } of messagesLeft(wanted, failures)) waiting.add(envelope.event_id);
      });
      await Promise.all(deliveries);
      const isWaiting = ({ envelope }: Message) => waiting.has(envelope.event_id);
      return {
        acknowledged: messages.filter((one) => !isWaiting(one)).map(({ envelope }) => envelope.event_id),
        // Where several subscribers fail in a key, it resumes at the first of their failures.
        failed: splitByKey(messages.filter(isWaiting)).flatMap(([message]) => {
          const error = message && errors.get(message.envelope.event_id);
          return error ? [{ message, error }] : [];
        }),
      };
    },
    async check() {},
    async stopConsuming() {
      consuming = false;
    },
    async close() {},
  };
}

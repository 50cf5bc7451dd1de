import { byKey, inParallel, type Message, type Subscription, type Transport } from './transport.ts';

/** Keys whose events are delivered at once. */
const width = 8;

/**
 * Carries events within one process, fed by the same outbox as Kafka: a message is acknowledged when every subscriber
 * is done with it, so the outbox keeps it across a crash.
 */
export function createInProcessTransport(): Transport {
  const subscriptions: Subscription[] = [];
  let consuming = false;

  async function deliver(message: Message): Promise<void> {
    const subscribers = subscriptions.filter((s) => s.topics.includes(message.topic));
    if (subscribers.length > 0 && !consuming) throw new Error('The subscribers are not running');
    // Through JSON, as over a wire: no subscriber sees another's objects.
    const text = JSON.stringify(message);
    const outcomes = await Promise.allSettled(subscribers.map((s) => s.handle(JSON.parse(text) as Message)));
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
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
      const acknowledged: string[] = [];
      const failed: { message: Message; error: Error }[] = [];
      await inParallel(byKey(messages), width, async (lane) => {
        for (const message of lane) {
          try {
            await deliver(message);
            acknowledged.push(message.envelope.event_id);
          } catch (error) {
            failed.push({ message, error: error instanceof Error ? error : new Error(String(error)) });
            return;
          }
        }
      });
      return { acknowledged, failed };
    },
    async check() {},
    async stopConsuming() {
      consuming = false;
    },
    async close() {},
  };
}

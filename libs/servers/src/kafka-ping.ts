import { Kafka, logLevel } from 'kafkajs';

/** The reason why Kafka does not respond, or undefined if it does. `brokers` are joined by commas. */
export async function kafkaTrouble(brokers: string): Promise<string | undefined> {
  const admin = new Kafka({
    brokers: brokers.split(',').map((broker) => broker.trim()),
    clientId: 'ready',
    connectionTimeout: 3_000,
    requestTimeout: 5_000,
    logLevel: logLevel.NOTHING,
    retry: { retries: 0 },
  }).admin();
  try {
    await admin.connect();
    // A broker responds shortly before it has joined its cluster, and cannot create topics then.
    return (await admin.describeCluster()).brokers.length > 0 ? undefined : 'no broker is ready';
  } catch (error) {
    return (error as Error).message;
  } finally {
    await admin.disconnect().catch(() => {});
  }
}

/**
 * Runs a Kafka broker for development until Ctrl-C, then deletes its data.
 *
 *     node infra/kafka/src/main.ts [port]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startKafka } from '@attribution/servers';

const port = Number(process.argv[2] ?? 9092);
const say = (line: string) => console.error(line);
// Keeps this process alive: the broker runs only as long as this process does.
const keepAlive = setInterval(() => {}, 60_000);
const signal = new Promise<void>((resolve) => {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => resolve());
});

const directory = await mkdtemp(join(tmpdir(), 'attribution-kafka-'));
try {
  const cache = fileURLToPath(new URL('../../../.cache', import.meta.url));
  const broker = await startKafka({ directory, cache, port, say });
  say(`Kafka is ready at ${broker.brokers.join(',')}. Ctrl-C ends it.`);
  await signal;
  say('Kafka: stopping…');
  await broker.stop();
} finally {
  clearInterval(keepAlive);
  await rm(directory, { recursive: true, force: true });
}

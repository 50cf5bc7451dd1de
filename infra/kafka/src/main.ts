/**
 * Runs a Kafka broker for a developer until Ctrl-C; then its data are gone.
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
// Nothing else keeps the process, whose servers end with it.
const hold = setInterval(() => {}, 60_000);
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
  clearInterval(hold);
  await rm(directory, { recursive: true, force: true });
}

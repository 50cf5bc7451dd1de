/** The path of events from commit to effect, in one process: a sender's outbox and relay, the transport, a real service. */
import { createKafkaTransport } from '@attribution/kafka';
import { createInProcessTransport } from '@attribution/messaging';
import { createLogger } from '@attribution/runtime';
import { quantile } from '../statistics.ts';
import { serveCommands } from './commands.ts';
import { streamOf } from './events.ts';
import { createReceiver } from './receiver.ts';
import { createSender, type Sent } from './sender.ts';

const { SENDER_URL = '', RECEIVER_URL = '', STREAM, BROKERS, TOPIC_PREFIX = '' } = process.env;
const logger = createLogger({ name: 'bench', level: 'error', destination: process.stderr });
const stream = streamOf(STREAM);
const transport = BROKERS
  ? createKafkaTransport({ brokers: BROKERS.split(','), clientId: 'bench', prefix: TOPIC_PREFIX, logger })
  : createInProcessTransport();
transport.declare([stream.topic]);
const sender = createSender(SENDER_URL, stream, transport, logger);
const receiver = await createReceiver(RECEIVER_URL, stream, transport, logger);
receiver.service.start();
await transport.start();
for (let ready = false; !ready; )
  ready = await transport.check().then(
    () => true,
    () => false,
  );

const outboxIsEmpty = async () => (await sender.pool.query('SELECT 1 FROM outbox LIMIT 1')).rowCount === 0;

/** Measures the milliseconds from commit to effect. */
async function delays({ commits }: Sent) {
  await receiver.effectsOf(commits.size);
  const effects = await receiver.watched();
  const all = [...commits].map(([id, at]) => (effects.get(id) ?? Number.NaN) - at);
  return { p50: quantile(all, 0.5), p99: quantile(all, 0.99), last: Math.max(...effects.values()), all: all.length };
}

serveCommands({
  /** Commits events, which wait in the outbox. */
  async prepare({ events = 0 }) {
    await receiver.empty();
    await sender.fill(events);
    return {};
  },
  /** Publishes the prepared events. Returns events per second from the relay's start to the last effect. */
  async drain({ events = 0 }) {
    const start = performance.now();
    sender.relay.start();
    while (!(await outboxIsEmpty())) await new Promise((resolve) => setTimeout(resolve, 10));
    await receiver.effectsOf(events);
    const rate = (events / (performance.now() - start)) * 1_000;
    await sender.relay.stop(Date.now() + 1_000);
    return { rate };
  },
  /** Writes transactions of `each` events. Returns events per second from the first transaction to the last effect. */
  async live({ seconds = 0, each = 1, rate }) {
    await receiver.empty();
    await receiver.watch();
    sender.relay.start();
    const start = Date.now();
    const sent = await (rate === undefined
      ? sender.sendAtFullSpeed(seconds, each)
      : sender.sendAtRate(seconds, each, rate));
    const { p50, p99, last, all } = await delays(sent);
    await sender.relay.stop(Date.now() + 1_000);
    return { rate: (all / (last - start)) * 1_000, p50, p99 };
  },
});

import { randomBytes } from 'node:crypto';
import { type Case, compact, compare, rateRow, type Tools } from '../case.ts';
import { command } from '../messaging/commands.ts';
import { streamOf } from '../messaging/events.ts';
import { type BenchServer, startServer } from '../server.ts';

const name = 'groups';

async function start(program: string, tools: Tools): Promise<BenchServer> {
  return startServer(new URL(`../messaging/${program}.server.ts`, import.meta.url), {
    STREAM: name,
    BROKERS: tools.kafkaBrokers?.join(',') ?? '',
    TOPIC_PREFIX: `${program}-${randomBytes(4).toString('hex')}.`,
  });
}

/** Compares our Kafka client with a possible replacement (ADR 21). Each produces and consumes in one process. */
export const kafkaClients: Case = {
  name: 'kafka clients',
  async run(tools) {
    if (!tools.kafkaBrokers) return [];
    const events = Math.ceil(streamOf(name).eventsASecond * tools.seconds);
    const [kafkajs, platformatic] = await Promise.all([start('loop', tools), start('platformatic', tools)]);
    const drain = async ({ url }: BenchServer) => {
      await command(url, 'prepare', { events });
      return (await command<{ rate: number }>(url, 'drain', { events })).rate;
    };
    const idle = async ({ url }: BenchServer) =>
      (await command<{ cost: number }>(url, 'idle', { seconds: tools.seconds })).cost;
    try {
      const rates = await compare(
        tools,
        () => drain(kafkajs),
        () => drain(platformatic),
      );
      const [ours, theirs] = [await idle(kafkajs), await idle(platformatic)];
      return [
        rateRow('Produce and consume by kafkajs, beside @platformatic/kafka', rates),
        {
          what: '… processor time of a second in which nothing is sent',
          ours: `${compact(ours)} ms`,
          beside: `${compact(theirs)} ms`,
          bar: '–',
        },
      ];
    } finally {
      await Promise.all([kafkajs.stop(), platformatic.stop()]);
    }
  },
};

import { randomBytes } from 'node:crypto';
import { type Case, compact, compare, type Row, rateRow, type Tools } from '../case.ts';
import { createBenchDatabase } from '../database.ts';
import { command } from '../messaging/commands.ts';
import { type Stream, streamOf } from '../messaging/events.ts';
import { type BenchServer, startServer } from '../server.ts';

const bars = { projection: 0.5, publishing: 0.3 };

interface Stage {
  readonly stream: Stream;
  readonly pipeline: BenchServer;
  readonly loop: BenchServer;
}

/** Runs `work` with the pipeline of a stream, over Kafka or in-process, and with bare kafkajs for the same events. */
async function onStage<T>(
  tools: Tools,
  name: string,
  over: 'kafka' | 'in-process',
  work: (stage: Stage) => Promise<T>,
) {
  const { receiver, topic } = streamOf(name);
  const [sending, receiving] = await Promise.all([
    createBenchDatabase(tools.postgresUrl, topic.owner),
    createBenchDatabase(tools.postgresUrl, receiver),
  ]);
  const brokers = tools.kafkaBrokers?.join(',') ?? '';
  const prefix = `bench-${randomBytes(4).toString('hex')}.`;
  const servers: BenchServer[] = [];
  const start = async (program: string, environment: Record<string, string>) => {
    const server = await startServer(new URL(`../messaging/${program}.server.ts`, import.meta.url), {
      STREAM: name,
      ...environment,
    });
    servers.push(server);
    return server;
  };
  try {
    const pipeline = await start('pipeline', {
      SENDER_URL: sending.url,
      RECEIVER_URL: receiving.url,
      ...(over === 'kafka' && { BROKERS: brokers, TOPIC_PREFIX: prefix }),
    });
    const loop = await start('loop', { BROKERS: brokers, TOPIC_PREFIX: `loop-${prefix}` });
    return await work({ stream: streamOf(name), pipeline, loop });
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await Promise.all([sending.drop(), receiving.drop()]);
  }
}

interface Rate {
  readonly rate: number;
}

async function drains(what: string, tools: Tools, stage: Stage, least?: number): Promise<Row> {
  const { stream, pipeline, loop } = stage;
  const events = Math.ceil(stream.eventsASecond * tools.seconds);
  const drain = async ({ url }: BenchServer) => {
    await command(url, 'prepare', { events });
    return (await command<Rate>(url, 'drain', { events })).rate;
  };
  return rateRow(
    what,
    await compare(
      tools,
      () => drain(pipeline),
      () => drain(loop),
    ),
    least,
  );
}

interface Live extends Rate {
  readonly p50: number;
  readonly p99: number;
}

/** Measures while transactions of `each` events are written: the highest throughput, then the delay at half of it. */
async function whileWriting(
  what: string,
  { seconds, smoke }: Tools,
  { pipeline }: Stage,
  each: number,
): Promise<Row[]> {
  const live = (more: Record<string, number> = {}) => command<Live>(pipeline.url, 'live', { seconds, each, ...more });
  if (!smoke) await live();
  const full = await live();
  const half = await live({ rate: full.rate / 2 });
  const besides = { beside: '', bar: '–' };
  return [
    { what: `${what}: events`, ours: `${compact(full.rate)}/s`, ...besides },
    {
      what: `${what}: commit to effect at half of that (p50 · p99)`,
      ours: `${half.p50.toFixed(1)} ms · ${half.p99.toFixed(1)} ms`,
      ...besides,
    },
  ];
}

function caseOf(over: 'kafka' | 'in-process', name: string): Case {
  return {
    name: `messaging ${over}`,
    async run(tools) {
      if (!tools.kafkaBrokers) return [];
      const groups = () =>
        onStage(tools, 'groups', over, async (stage) => [
          await drains(`Commit to effect ${name}, a projection, beside bare kafkajs`, tools, stage, bars.projection),
          ...(await whileWriting(`… 16 writers, one event a transaction`, tools, stage, 1)),
          ...(await whileWriting(`… 16 writers, ten events a transaction`, tools, stage, 10)),
        ]);
      const accounts = () =>
        onStage(tools, 'accounts', over, (stage) =>
          drains(`Commit to effect ${name}, a handler that publishes for each event`, tools, stage, bars.publishing),
        );
      if (tools.smoke) return (await Promise.all([groups(), accounts()])).flat();
      return [...(await groups()), await accounts()];
    },
  };
}

export const messagingCases: readonly Case[] = [caseOf('kafka', 'over Kafka'), caseOf('in-process', 'in one process')];

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTraceCollector, type TraceCollector } from '@attribution/servers';
import { type Case, compare, type Row, rateRow } from '../case.ts';
import { small } from '../gateway/answers.ts';
import { rateMeasurer, type Stage, setStage, startProgram } from '../gateway/stage.ts';
import type { BenchServer } from '../server.ts';

/** The gateway must keep nine tenths of its throughput (ADR 23). */
const bar = 0.9;

interface Observed {
  readonly what: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The least and the most of a hundred requests that must be traced, to make sure that sampling works. */
  readonly spans: readonly [number, number];
  readonly bar?: number;
}

/** Long, because code that only a tenth of the requests run is compiled late. */
const warmUpSeconds = 10;

/** The ways to observe a gateway. */
const kinds: readonly Observed[] = [
  { what: 'with metrics, and a tenth of the requests traced', environment: {}, spans: [1, 40], bar },
  {
    what: 'with metrics, and every request traced',
    environment: { OTEL_TRACES_SAMPLER_ARG: '1' },
    spans: [100, 100],
  },
];

/**
 * Compares the gateway with metrics and traces to itself without. Each run has a new process: compiled code differs between
 * processes by more than the effect to be measured, so a single process would distort all pairs.
 */
export const gatewayObserved: Case = {
  name: 'gateway with metrics and traces',
  async run(tools) {
    const stage = await setStage(tools);
    const collector = await startTraceCollector();
    const rateOf = rateMeasurer(tools, stage, { path: small.path });
    const warm = rateMeasurer({ ...tools, seconds: tools.smoke ? tools.seconds : warmUpSeconds }, stage, {
      path: small.path,
    });
    const gateways = tools.smoke ? keptGateways(stage) : newGateways(stage);
    const rateWith = (environment: Readonly<Record<string, string>>) => () =>
      gateways.use(environment, async (gateway) => {
        await warm(gateway)();
        return rateOf(gateway)();
      });
    try {
      const rows: Row[] = [];
      for (const { what, environment, spans, bar } of kinds) {
        tools.say(what);
        const more = { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
        await gateways.use(more, (gateway) => requireSpans(gateway, stage, collector, spans));
        const compared = await compare(tools, rateWith(more), rateWith({ METRICS: 'off' }));
        rows.push(rateRow(`Gateway ${what}, beside itself without either`, compared, bar));
      }
      return rows;
    } finally {
      await gateways.stop();
      await Promise.all([collector.stop(), stage.upstream.stop()]);
    }
  },
};

interface Gateways {
  /** Does some work on a gateway with these variables. */
  use<T>(environment: Readonly<Record<string, string>>, work: (gateway: BenchServer) => Promise<T>): Promise<T>;
  stop(): Promise<unknown>;
}

/** A new process for each use. */
function newGateways(stage: Stage): Gateways {
  return {
    async use(environment, work) {
      const gateway = await startProgram('gateway', stage, environment);
      return await work(gateway).finally(() => gateway.stop());
    },
    stop: async () => {},
  };
}

/** One process for all uses with the same variables: enough where figures do not matter. */
function keptGateways(stage: Stage): Gateways {
  const kept = new Map<string, BenchServer>();
  return {
    async use(environment, work) {
      const key = JSON.stringify(environment);
      const gateway = kept.get(key) ?? (await startProgram('gateway', stage, environment));
      kept.set(key, gateway);
      return work(gateway);
    },
    stop: () => Promise.all([...kept.values()].map((gateway) => gateway.stop())),
  };
}

/** Throws unless the collector gets spans of the expected number of a hundred requests. */
async function requireSpans(
  gateway: BenchServer,
  stage: Stage,
  collector: TraceCollector,
  [least, most]: readonly [number, number],
): Promise<void> {
  const ids = Array.from({ length: 100 }, () => randomBytes(16).toString('hex'));
  for (const id of ids) {
    const headers = { ...stage.headers, traceparent: `00-${id}-00f067aa0ba902b7-00` };
    await (await fetch(gateway.url + small.path, { headers })).arrayBuffer();
  }
  await sleep(2_500); // Spans are sent once a second.
  const traced = ids.filter((id) => collector.spansOf(id).length > 0).length;
  if (traced < least || traced > most)
    throw new Error(`Of 100 requests ${traced} were traced, not ${least} to ${most}`);
}

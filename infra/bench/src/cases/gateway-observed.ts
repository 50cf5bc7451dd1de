import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTraceCollector, type TraceCollector } from '@attribution/servers';
import { type Case, compare, type Row, rateRow } from '../case.ts';
import { small } from '../gateway/answers.ts';
import { asks, type Stage, setStage, startProgram } from '../gateway/stage.ts';

/** Of the gateway's throughput nine tenths remain (ADR 23). */
const bar = 0.9;

interface Observed {
  readonly what: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Of a hundred requests, how many may have a span: else it is not what it is called. */
  readonly spans: readonly [number, number];
  readonly bar?: number;
}

/** Seconds of load before a process is measured: what a tenth of the requests run through is compiled late. */
const warmUp = 10;

/** How a gateway may be looked at. */
const kinds: readonly Observed[] = [
  { what: 'with metrics, and a tenth of the requests traced', environment: {}, spans: [1, 40], bar },
  {
    what: 'with metrics, and every request traced',
    environment: { OTEL_TRACES_SAMPLER_ARG: '1' },
    spans: [100, 100],
  },
];

/**
 * The gateway with metrics and traces beside itself without either. Each run is of a process of its own: what a compiler
 * makes of one differs by more than what is measured, and would stand on one side for all pairs.
 */
export const gatewayObserved: Case = {
  name: 'gateway with metrics and traces',
  async run(tools) {
    const stage = await setStage(tools);
    const collector = await startTraceCollector();
    const rateOf = asks(tools, stage, { path: small.path });
    const warm = asks({ ...tools, seconds: tools.moment ? tools.seconds : warmUp }, stage, { path: small.path });
    const rateWith = (environment: Readonly<Record<string, string>>) => async () => {
      const gateway = await startProgram('gateway', stage, environment);
      try {
        await warm(gateway)();
        return await rateOf(gateway)();
      } finally {
        await gateway.stop();
      }
    };
    try {
      const rows: Row[] = [];
      for (const { what, environment, spans, bar } of kinds) {
        tools.say(what);
        const more = { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
        await requireSpans(more, stage, collector, spans);
        const compared = await compare(tools, rateWith(more), rateWith({ METRICS: 'off' }));
        rows.push(rateRow(`Gateway ${what}, beside itself without either`, compared, bar));
      }
      return rows;
    } finally {
      await Promise.all([collector.stop(), stage.upstream.stop()]);
    }
  },
};

/** Throws unless as many of a hundred requests reach the collector as should. */
async function requireSpans(
  environment: Readonly<Record<string, string>>,
  stage: Stage,
  collector: TraceCollector,
  [least, most]: readonly [number, number],
): Promise<void> {
  const gateway = await startProgram('gateway', stage, environment);
  try {
    const ids = Array.from({ length: 100 }, () => randomBytes(16).toString('hex'));
    for (const id of ids) {
      const headers = { ...stage.headers, traceparent: `00-${id}-00f067aa0ba902b7-00` };
      await (await fetch(gateway.url + small.path, { headers })).arrayBuffer();
    }
    await sleep(2_500); // They go out once a second.
    const come = ids.filter((id) => collector.spansOf(id).length > 0).length;
    if (come < least || come > most) throw new Error(`Of 100 requests ${come} were traced, not ${least} to ${most}`);
  } finally {
    await gateway.stop();
  }
}

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startTraceCollector, type TraceCollector } from '@attribution/testing/parts';
import { type Case, compare, type Row, rateRow } from '../case.ts';
import { small } from '../gateway/answers.ts';
import { asks, type Stage, setStage, startProgram } from '../gateway/stage.ts';
import type { BenchServer } from '../server.ts';

/** Of the gateway's throughput nine tenths remain (ADR 23). */
const bar = 0.9;

interface Observed {
  readonly what: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Of a hundred requests, how many may have a span: else it is not what it is called. */
  readonly spans: readonly [number, number];
  readonly bar?: number;
}

/** How a gateway may be looked at. */
const kinds: readonly Observed[] = [
  { what: 'with metrics, and a tenth of the requests traced', environment: {}, spans: [1, 40], bar },
  {
    what: 'with metrics, and every request traced',
    environment: { OTEL_TRACES_SAMPLER_ARG: '1' },
    spans: [100, 100],
  },
];

/** The gateway with metrics and traces beside itself without either. */
export const gatewayObserved: Case = {
  name: 'gateway with metrics and traces',
  async run(tools) {
    const stage = await setStage(tools);
    const collector = await startTraceCollector();
    const bare = await startProgram('gateway', stage, { METRICS: 'off' });
    const rateOf = asks(tools, stage, { path: small.path });
    try {
      const rows: Row[] = [];
      for (const { what, environment, spans, bar } of kinds) {
        tools.say(what);
        const more = { ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
        const observed = await startProgram('gateway', stage, more);
        try {
          await requireSpans(observed, stage, collector, spans);
          const compared = await compare(tools, rateOf(observed), rateOf(bare));
          rows.push(rateRow(`Gateway ${what}, beside itself without either`, compared, bar));
        } finally {
          await observed.stop();
        }
      }
      return rows;
    } finally {
      await Promise.all([bare.stop(), collector.stop(), stage.upstream.stop()]);
    }
  },
};

/** Throws unless as many of a hundred requests reach the collector as should. */
async function requireSpans(
  { url }: BenchServer,
  stage: Stage,
  collector: TraceCollector,
  [least, most]: readonly [number, number],
): Promise<void> {
  const ids = Array.from({ length: 100 }, () => randomBytes(16).toString('hex'));
  for (const id of ids) {
    const headers = { ...stage.headers, traceparent: `00-${id}-00f067aa0ba902b7-00` };
    await (await fetch(url + small.path, { headers })).arrayBuffer();
  }
  await sleep(2_500); // They go out once a second.
  const come = ids.filter((id) => collector.spansOf(id).length > 0).length;
  if (come < least || come > most) throw new Error(`Of 100 requests ${come} were traced, not ${least} to ${most}`);
}

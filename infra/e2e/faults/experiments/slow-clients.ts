import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '@attribution/bench';
import { freePort } from '@attribution/servers';
import { personToken } from '@attribution/testing';
import { type Edge, startEdge } from '../edge/gateway.ts';
import { type Measured, startLoad, statusesText } from '../edge/load.ts';
import { overOneConnection } from '../edge/one-connection.ts';
import { settled } from '../edge/settled.ts';
import { type SlowReport, startSlowClients } from '../edge/slow-clients.ts';
import type { Experiment } from '../experiment.ts';
import { createMember, type Member } from '../member.ts';

/** How many bytes the gateway's memory may grow by, in total and per slow client: far less than the unread responses. */
const memoryBar = { base: 120_000_000, each: 250_000 };
/**
 * How often the timeout may start anew for clients that do not read. When connections end, the system enlarges the socket
 * buffers of others, and the bytes that fill them look to the gateway as if the client had read.
 */
const renewals = 2;
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
const ms = (value: number) => `${value.toFixed(1)} ms`;

interface Form {
  readonly clients: number;
  /** Requests per second of the normal clients. */
  readonly rate: number;
  /** The gateway's timeout of clients; in the long form its default. */
  readonly clientTimeoutMs: number;
  readonly quiet: number;
  /** The share of the requests whose latency is judged: beside other tests, the slowest ones say what the machine did. */
  readonly share: number;
  /** Such a latency always passes. */
  readonly floorMs: number;
  /**
   * The gateway checks once a second, closing takes another, and the slow clients themselves may be short of CPU; beside other
   * tests, the bar only tells clients that are ended from those that are not.
   */
  readonly slackMs: number;
}
const forms: Record<'short' | 'long', Form> = {
  short: { clients: 160, rate: 30, clientTimeoutMs: 2_000, quiet: 1_500, share: 0.5, floorMs: 250, slackMs: 60_000 },
  long: { clients: 1_000, rate: 100, clientTimeoutMs: 60_000, quiet: 20_000, share: 0.99, floorMs: 20, slackMs: 6_000 },
};
interface Round {
  readonly quiet: Measured;
  /** Measured while the slow clients connect, and megabytes of socket buffers fill up for each that does not read. */
  readonly coming: Measured;
  readonly disturbed: Measured;
  /** The same load at the same time on a gateway without slow clients, which shows the influence of the machine. */
  readonly twin: Measured;
  readonly report: SlowReport | undefined;
  readonly memory: { readonly before: number; readonly peak: number };
}

/** Clients that send and read byte by byte: they do not slow down others, are ended in time, and leave no resources behind. */
export const slowClients: Experiment = {
  name: 'slow-clients',
  rounds: { short: 1, long: 2 },
  async run({ long, rounds, say }) {
    const form = forms[long ? 'long' : 'short'];
    const edges: Edge[] = [];
    const upstreams: Member[] = [];
    async function newEdge(): Promise<readonly [Edge, Member]> {
      const port = await freePort();
      const upstream = createMember({ program: 'infra/e2e/faults/edge/upstream.process.ts', port, environment: {} });
      upstreams.push(upstream);
      upstream.start();
      await upstream.alive();
      const edge = await startEdge({ organization: upstream }, { CLIENT_TIMEOUT_MS: String(form.clientTimeoutMs) });
      edges.push(edge);
      return [edge, upstream];
    }
    try {
      const [[edge, upstream], [twin]] = await Promise.all([newEdge(), newEdge()]);
      const connections = overOneConnection(`${upstream.url}/open`);
      // Without the connections to the service, because the size of their pool does not matter.
      const files = async () => (await edge.openFiles()) - Number(await connections());
      await measure([edge, twin], form.rate, 500);
      await sleep(200); // The load's connections are closed by then.
      const before = await files();
      const done: Round[] = [];
      // Other load on the machine may hit one gateway and not the other, so only most rounds must be calm.
      for (let round = 1; round <= rounds || (!mostlyCalm(form, done) && round <= rounds + 2); round++) {
        done.push(await tryOnce(edge, twin, form));
        say(`  ${round} of ${rounds} rounds: ${statusesText(done.at(-1)?.disturbed)}`);
      }
      return findings(form, done, before, await settled(files, before));
    } finally {
      await Promise.all(edges.map((one) => one.stop()));
      await Promise.all(upstreams.map((one) => one.end('SIGTERM')));
    }
  },
};

/** A token lives for 15 minutes only, so each load begins with a new one. */
function loadOn(edge: Edge, rate: number) {
  const headers = { authorization: `Bearer ${personToken()}` };
  return startLoad({ rate, request: () => ({ url: `${edge.url}/v2/groups`, headers }) });
}

async function measure(edges: readonly [Edge, Edge], rate: number, forMs: number): Promise<Measured> {
  const loads = edges.map((edge) => loadOn(edge, rate));
  await sleep(forMs);
  const [measured] = await Promise.all(loads.map((load) => load.stop()));
  return measured as Measured;
}

async function tryOnce(
  edge: Edge,
  twin: Edge,
  { clients, rate, clientTimeoutMs, quiet, slackMs }: Form,
): Promise<Round> {
  const memory = () => edge.metric('process_resident_memory_bytes');
  const quietMeasured = await measure([edge, twin], rate, quiet);
  const before = await memory();
  let peak = before;
  const loads = [loadOn(edge, rate), loadOn(twin, rate)] as const;
  const slow = startSlowClients({ port: edge.port, clients, paceMs: 500, token: personToken() });
  const started = performance.now();
  while (slow.report() === undefined && performance.now() - started < 60_000) await sleep(50);
  const deadline = performance.now() + (1 + renewals) * clientTimeoutMs + 2 * slackMs;
  await sleep(1_000);
  const [coming] = await Promise.all(loads.map((load) => load.take()));
  while (slow.report()?.open !== 0 && performance.now() < deadline) {
    await sleep(500);
    peak = Math.max(peak, await memory());
  }
  const [disturbed, beside] = await Promise.all([loads[0].stop(), loads[1].stop()]);
  const report = slow.report();
  await slow.stop();
  return {
    quiet: quietMeasured,
    coming: coming as Measured,
    disturbed,
    twin: beside,
    report,
    memory: { before, peak },
  };
}

function isCalm({ share, floorMs }: Form, round: Round): boolean {
  const [quiet, twin, disturbed] = [round.quiet, round.twin, round.disturbed].map((one) =>
    quantile(one.latencies, share),
  ) as [number, number, number];
  return disturbed <= Math.max(floorMs, 2 * quiet, 2 * twin);
}
const mostlyCalm = (form: Form, rounds: readonly Round[]) =>
  rounds.filter((round) => isCalm(form, round)).length * 2 > rounds.length;

function findings(form: Form, rounds: readonly Round[], before: number, after: number) {
  const { clients, clientTimeoutMs, share, floorMs, slackMs } = form;
  const shareText = `p${100 * share}`;
  const latency = (of: (round: Round) => Measured) =>
    ms(
      quantile(
        rounds.flatMap((round) => of(round).latencies),
        share,
      ),
    );
  const failed = rounds
    .flatMap(({ coming, disturbed }) => [coming, disturbed])
    .some(({ statuses }) => Object.keys(statuses).some((status) => status !== '200'));
  const kinds = ['headers', 'body', 'refused', 'answer'] as const;
  const longest = (kind: (typeof kinds)[number]) => Math.max(...rounds.map(({ report }) => report?.longest[kind] ?? 0));
  const timeOf = (kind: (typeof kinds)[number]) => (kind === 'answer' ? 1 + renewals : 1) * clientTimeoutMs;
  const ended = (kind: (typeof kinds)[number]) =>
    rounds.reduce((sum, { report }) => sum + (report?.ended[kind] ?? 0), 0);
  const stillOpen = clients * rounds.length - kinds.reduce((sum, kind) => sum + ended(kind), 0);
  const grown = Math.max(...rounds.map(({ memory }) => memory.peak - memory.before));
  const tried = clients * rounds.length;
  return [
    {
      what: `others beside ${clients} slow clients`,
      tried: rounds.reduce((sum, round) => sum + round.disturbed.latencies.length, 0),
      found: `${shareText} ${latency((one) => one.disturbed)}; quiet ${latency((one) => one.quiet)}, without them at the same time ${latency((one) => one.twin)}; while they came ${latency((one) => one.coming)}`,
      bar: `all 200; in most rounds ${shareText} ≤ 2 × that of the others, or ≤ ${floorMs} ms`,
      holds: !failed && mostlyCalm(form, rounds),
    },
    {
      what: 'slow clients ended by the gateway',
      tried,
      found: `${stillOpen} left; the last after ${kinds.map((kind) => `${ms(longest(kind))} (${ended(kind)} ${kind})`).join(', ')}`,
      bar: `all, within ${clientTimeoutMs} + ${slackMs} ms; answers within ${(1 + renewals) * clientTimeoutMs} + ${slackMs} ms`,
      holds: stillOpen === 0 && kinds.every((kind) => longest(kind) > 0 && longest(kind) <= timeOf(kind) + slackMs),
    },
    {
      what: 'memory of the gateway; its open files before and after',
      tried,
      found: `+${mb(grown)}; ${before} and ${after}`,
      bar: `+${mb(memoryBar.base + clients * memoryBar.each)}; no more`,
      holds: grown <= memoryBar.base + clients * memoryBar.each && after <= before,
    },
  ];
}

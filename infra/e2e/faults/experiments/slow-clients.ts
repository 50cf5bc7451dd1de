import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '@attribution/bench';
import { freePort } from '@attribution/servers';
import { personToken } from '@attribution/testing';
import { type Edge, startEdge } from '../edge/gateway.ts';
import { type Measured, startLoad, statusesText } from '../edge/load.ts';
import { settled } from '../edge/settled.ts';
import { type SlowReport, startSlowClients } from '../edge/slow-clients.ts';
import type { Experiment } from '../experiment.ts';
import { createMember, type Member } from '../member.ts';

/** Requests a second of the others. */
const rate = 100;
/** What the gateway's memory may grow by at all, and by each slow client: far less than the answers they do not read. */
const memoryBar = { base: 120_000_000, each: 250_000 };
/**
 * How often patience may begin anew for those who do not read. When the system ends the buffers of some, it lends others
 * more, and what it then takes for them counts as taken.
 */
const renewals = 2;
const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
const ms = (value: number) => `${value.toFixed(1)} ms`;

/** How a form of the experiment is run; times in milliseconds. */
interface Form {
  readonly clients: number;
  /** The gateway's; as it is by default in the long form. */
  readonly patience: number;
  readonly quiet: number;
  /** A p99 below it is good whatever it is compared with. The short form runs beside other tests and their bursts. */
  readonly floor: number;
  /** The gateway looks once a second, a farewell takes another, and the slow ones themselves may get no processor. */
  readonly slack: number;
}
const forms: Record<'short' | 'long', Form> = {
  short: { clients: 160, patience: 2_000, quiet: 1_500, floor: 250, slack: 15_000 },
  long: { clients: 1_000, patience: 60_000, quiet: 20_000, floor: 20, slack: 6_000 },
};
interface Round {
  readonly quiet: Measured;
  /** While they connect and the buffers on the way to those who do not read fill up: megabytes for each. */
  readonly coming: Measured;
  readonly disturbed: Measured;
  /** The same load at the same time, on a gateway without slow clients: what the machine itself does to it. */
  readonly twin: Measured;
  readonly report: SlowReport | undefined;
  readonly memory: { readonly before: number; readonly peak: number };
}

/** Clients that give and take byte by byte: others do not feel them, they are ended in time, and nothing of them stays. */
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
      const edge = await startEdge({ organization: upstream }, { CLIENT_TIMEOUT_MS: String(form.patience) });
      edges.push(edge);
      return [edge, upstream];
    }
    try {
      const [[edge, upstream], [twin]] = await Promise.all([newEdge(), newEdge()]);
      // Less the connections to the service: their pool may be as large as it likes.
      const files = async () => (await edge.openFiles()) - Number(await (await fetch(`${upstream.url}/open`)).text());
      await measure([edge, twin], 500);
      await sleep(200); // The load's connections are closed by then.
      const before = await files();
      const done: Round[] = [];
      // A burst of something else on the machine may hit one gateway and not the other: most rounds must be calm.
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

const token = personToken();
const headers = { authorization: `Bearer ${token}` };
const loadOn = (edge: Edge) => startLoad({ rate, request: () => ({ url: `${edge.url}/v2/groups`, headers }) });

async function measure(edges: readonly [Edge, Edge], forMs: number): Promise<Measured> {
  const loads = edges.map(loadOn);
  await sleep(forMs);
  const [measured] = await Promise.all(loads.map((load) => load.stop()));
  return measured as Measured;
}

async function tryOnce(edge: Edge, twin: Edge, { clients, patience, quiet, slack }: Form): Promise<Round> {
  const memory = () => edge.metric('process_resident_memory_bytes');
  const quietly = await measure([edge, twin], quiet);
  const before = await memory();
  let peak = before;
  const loads = [loadOn(edge), loadOn(twin)] as const;
  const slow = startSlowClients({ port: edge.port, clients, paceMs: 500, token });
  const started = performance.now();
  while (slow.report() === undefined && performance.now() - started < 60_000) await sleep(50);
  const deadline = performance.now() + (1 + renewals) * patience + 2 * slack; // The last of them has come.
  await sleep(1_000);
  const [coming] = await Promise.all(loads.map((load) => load.take()));
  while (slow.report()?.open !== 0 && performance.now() < deadline) {
    await sleep(500);
    peak = Math.max(peak, await memory());
  }
  const [disturbed, beside] = await Promise.all([loads[0].stop(), loads[1].stop()]);
  const report = slow.report();
  await slow.stop();
  return { quiet: quietly, coming: coming as Measured, disturbed, twin: beside, report, memory: { before, peak } };
}

const isCalm = ({ floor }: Form, { quiet, twin, disturbed }: Round) =>
  disturbed.p99 <= Math.max(floor, 2 * quiet.p99, 2 * twin.p99);
const mostlyCalm = (form: Form, rounds: readonly Round[]) =>
  rounds.filter((round) => isCalm(form, round)).length * 2 > rounds.length;

function findings(form: Form, rounds: readonly Round[], before: number, after: number) {
  const { clients, patience, floor, slack } = form;
  const p99 = (of: (round: Round) => Measured) =>
    quantile(
      rounds.flatMap((round) => of(round).latencies),
      0.99,
    );
  const [quiet, disturbed, twin] = [p99((one) => one.quiet), p99((one) => one.disturbed), p99((one) => one.twin)];
  const failed = rounds
    .flatMap(({ coming, disturbed }) => [coming, disturbed])
    .some(({ statuses }) => Object.keys(statuses).some((status) => status !== '200'));
  const kinds = ['headers', 'body', 'refused', 'answer'] as const;
  const longest = (kind: (typeof kinds)[number]) => Math.max(...rounds.map(({ report }) => report?.longest[kind] ?? 0));
  const timeOf = (kind: (typeof kinds)[number]) => (kind === 'answer' ? 1 + renewals : 1) * patience;
  const ended = (kind: (typeof kinds)[number]) =>
    rounds.reduce((sum, { report }) => sum + (report?.ended[kind] ?? 0), 0);
  const left = clients * rounds.length - kinds.reduce((sum, kind) => sum + ended(kind), 0);
  const grown = Math.max(...rounds.map(({ memory }) => memory.peak - memory.before));
  const tried = clients * rounds.length;
  return [
    {
      what: `others beside ${clients} slow clients`,
      tried: rounds.reduce((sum, round) => sum + round.disturbed.latencies.length, 0),
      found: `p99 ${ms(disturbed)}; quiet ${ms(quiet)}, without them at the same time ${ms(twin)}; while they came ${ms(p99((one) => one.coming))}`,
      bar: `all 200; in most rounds p99 ≤ 2 × that of the others, or ≤ ${floor} ms`,
      holds: !failed && mostlyCalm(form, rounds),
    },
    {
      what: 'slow clients ended by the gateway',
      tried,
      found: `${left} left; the last after ${kinds.map((kind) => `${ms(longest(kind))} (${ended(kind)} ${kind})`).join(', ')}`,
      bar: `all, within ${patience} + ${slack} ms; answers within ${(1 + renewals) * patience} + ${slack} ms`,
      holds: left === 0 && kinds.every((kind) => longest(kind) > 0 && longest(kind) <= timeOf(kind) + slack),
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

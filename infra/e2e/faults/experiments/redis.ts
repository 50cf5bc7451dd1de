import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '@attribution/bench';
import type { Chance } from '@attribution/testing';
import { type Edge, startEdge } from '../edge/gateway.ts';
import { startHealthyUpstream } from '../edge/healthy-upstream.ts';
import { type LoadRequest, type Measured, startLoad, statusesText } from '../edge/load.ts';
import type { Experiment, Finding, Lab } from '../experiment.ts';
import { startTcpProxy, type TcpProxy, type Way } from '../tcp-proxy.ts';

interface Form {
  /** Requests per second to endpoints with rate limits, each from a new address. */
  readonly rate: number;
  /** The share of the requests whose latency is judged, and how many milliseconds it may grow by. */
  readonly share: number;
  readonly bar: number;
  readonly measuredMs: number;
}
/**
 * The short form runs on any machine in parallel with other tests, where the slowest requests say what the machine did. It
 * only detects that requests wait for Redis, which each takes 200 ms or forever.
 */
const forms: Record<'short' | 'long', Form> = {
  short: { rate: 40, share: 0.5, bar: 150, measuredMs: 1_000 },
  long: { rate: 150, share: 0.99, bar: 50, measuredMs: 5_000 },
};
/** How soon Redis must be used again after its return. */
const reconnectTimeoutMs = 5_000;

const outages: readonly { readonly name: string; readonly way: Way }[] = [
  { name: 'away: connections refused', way: 'refuse' },
  { name: 'hung: takes everything, says nothing', way: 'hang' },
  { name: 'slow: each word takes 200 ms', way: { delay: 200 } },
];

/** Redis unavailable, hung and slow: requests do not wait for it, the rate limits hold, and it is used again afterwards. */
export const redis: Experiment = {
  name: 'redis',
  rounds: { short: 1, long: 10 },
  needs: ['redis'],
  async run(lab) {
    const { hostname: host, port } = new URL(lab.redisUrl ?? '');
    const proxy = await startTcpProxy({ host, port: Number(port) });
    const upstream = await startHealthyUpstream((req, res) => {
      res.statusCode = Number(/status=(\d+)/.exec(req.url ?? '')?.[1] ?? 200);
      res.end();
    });
    // The twin's Redis is never disturbed, so what slows down both gateways is the machine.
    const [edge, twin] = await Promise.all(
      [`redis://127.0.0.1:${proxy.port}`, lab.redisUrl ?? ''].map((REDIS_URL) =>
        startEdge({ account: upstream }, { REDIS_URL }),
      ) as [Promise<Edge>, Promise<Edge>],
    );
    try {
      await both([edge, twin], formOf(lab).rate, 500, lab.chance);
      const findings: Finding[] = [];
      for (const outage of outages) findings.push(await breakIt(lab, { proxy, edge, twin }, outage));
      return findings;
    } finally {
      await Promise.all([edge.stop(), twin.stop()]);
      await upstream.stop();
      await proxy.stop();
    }
  },
};

const formOf = (lab: Lab) => forms[lab.long ? 'long' : 'short'];

interface Setup {
  readonly proxy: TcpProxy;
  readonly edge: Edge;
  readonly twin: Edge;
}

async function breakIt(lab: Lab, setup: Setup, { name, way }: (typeof outages)[number]): Promise<Finding> {
  const { proxy, edge, twin } = setup;
  const added: number[] = [];
  const wrong: string[] = [];
  const back: number[] = [];
  let tried = 0;
  let fallbacks = 0;
  const { rate, share, bar, measuredMs } = formOf(lab);
  const shareText = `p${100 * share}`;
  // Other load on the machine may hit one gateway and not the other, so the median of the rounds counts.
  for (let round = 0; round < lab.rounds || (median(added) > bar && round < lab.rounds + 2); round++) {
    const before = await edge.metric('rate_limit_fallbacks_total');
    const measuring = both([edge, twin], rate, measuredMs, lab.chance);
    await sleep(100);
    await proxy.set(way);
    wrong.push(...(await limitsHold(edge)));
    const [disturbed, quiet] = await measuring;
    const [meanwhile, beside] = [quantile(disturbed.latencies, share), quantile(quiet.latencies, share)];
    fallbacks += (await edge.metric('rate_limit_fallbacks_total')) - before;
    await proxy.set('pass');
    back.push(await inUseAgain(edge, lab.chance));
    tried += disturbed.latencies.length;
    added.push(meanwhile - beside);
    if (Object.keys(disturbed.statuses).join() !== '200') wrong.push(statusesText(disturbed));
    lab.say(`  ${name}: ${shareText} ${meanwhile.toFixed(1)} ms beside ${beside.toFixed(1)} ms`);
  }
  for (const line of wrong) lab.say(`  ${line}`);
  const slowest = Math.max(...back);
  return {
    what: `Redis ${name}`,
    tried,
    found: `${shareText} ${median(added) < 0 ? '' : '+'}${median(added).toFixed(1)} ms; ${fallbacks} counted in-process; ${wrong.length} answers that no limit explains; in use again after ${slowest.toFixed(0)} ms`,
    bar: `≤ +${bar} ms; > 0; 0; ≤ ${reconnectTimeoutMs} ms`,
    holds: median(added) <= bar && fallbacks > 0 && wrong.length === 0 && slowest <= reconnectTimeoutMs,
  };
}

/** The upper median. */
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Puts the same load on both gateways at once. */
async function both(
  edges: readonly [Edge, Edge],
  rate: number,
  forMs: number,
  chance: Chance,
): Promise<[Measured, Measured]> {
  const loads = edges.map((edge) => startLoad({ rate, request: () => counted(edge, chance) }));
  await sleep(forMs);
  return (await Promise.all(loads.map((load) => load.stop()))) as [Measured, Measured];
}

/** Random, but not from the seed: the Redis is shared, and rate-limit windows outlive a run. */
const newAddress = () => `2001:db8:${[1, 2].map(() => randomInt(1, 65_536).toString(16)).join(':')}::1`;

function counted(edge: Edge, chance: Chance): LoadRequest {
  const path = chance.share() < 0.5 ? 'login' : 'forgot-password';
  return { url: `${edge.url}/v2/auth/${path}`, method: 'POST', headers: { 'x-forwarded-for': newAddress() } };
}

/** Exceeds two rate limits as one client, and describes the statuses that differ from the contract. */
async function limitsHold(edge: Edge): Promise<string[]> {
  const headers = { 'x-forwarded-for': newAddress() };
  const statusesOf = async (path: string, times: number) => {
    const statuses: number[] = [];
    for (let n = 0; n < times; n++) {
      const answer = await fetch(`${edge.url}${path}`, { method: 'POST', headers });
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }
    return statuses.join();
  };
  const logins = await statusesOf('/v2/auth/login?status=401', 12);
  const requests = await statusesOf('/v2/auth/forgot-password', 5);
  return [
    ...(logins === [...Array(10).fill(401), 429, 429].join() ? [] : [`12 failed logins were answered ${logins}`]),
    ...(requests === '200,200,200,429,429' ? [] : [`5 requests under a limit of 3 were answered ${requests}`]),
  ];
}

/** Milliseconds until a request is counted in Redis again; more than twice the timeout if none is. */
async function inUseAgain(edge: Edge, chance: Chance): Promise<number> {
  const started = performance.now();
  for (;;) {
    const before = await edge.metric('rate_limit_fallbacks_total');
    const { url, method, headers } = counted(edge, chance);
    await (await fetch(url, { method: method ?? 'POST', headers: { ...headers } })).arrayBuffer();
    const took = performance.now() - started;
    if ((await edge.metric('rate_limit_fallbacks_total')) === before || took > 2 * reconnectTimeoutMs) return took;
    await sleep(50);
  }
}

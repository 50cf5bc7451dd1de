import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { personToken } from '@attribution/testing';
import { startEdge } from '../edge/gateway.ts';
import { startHealthyUpstream } from '../edge/healthy-upstream.ts';
import { type Ending, type HostileAnswer, hostileAnswers, wholeBody } from '../edge/hostile-answers.ts';
import { startHostileUpstream } from '../edge/hostile-upstream.ts';
import { startLoad, statusesText } from '../edge/load.ts';
import { settled } from '../edge/settled.ts';
import type { Experiment } from '../experiment.ts';

/**
 * Milliseconds: the gateway's timer with upstreams, and what may come on top of it; and the requests per second to the healthy
 * upstream. The short form runs beside other tests: with more requests than a busy machine can answer, the rest would wait
 * until they time out.
 */
const forms = {
  short: { upstreamTimeoutMs: 10_000, slackMs: 20_000, rate: 20 },
  long: { upstreamTimeoutMs: 1_000, slackMs: 2_000, rate: 100 },
};
/** A request counts as unanswered after this time. */
const clientTimeoutMs = 60_000;
/** The number of parallel requests to an upstream that hangs: more than a connection pool would allow. */
const crowd = 500;
const path = '/v2/campaigns';
/** The faults after which the connection can be used for another request. */
const leavesConnection = hostileAnswers.flatMap(({ ending }, fault) =>
  ending === 'answered' || ending === 'either' ? [fault] : [],
);
const hanging = hostileAnswers.findIndex(({ name }) => name === 'hangs');

interface Outcome {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  /** Whether the response was received completely. */
  readonly complete: boolean;
  readonly ms: number;
}

/** Upstreams that fail in every way: the client gets 502 in bounded time or a cut response, and no socket is leaked. */
export const upstreams: Experiment = {
  name: 'upstreams',
  rounds: { short: 1, long: 50 },
  async run({ long, chance, rounds, say }) {
    const { upstreamTimeoutMs, slackMs, rate } = forms[long ? 'long' : 'short'];
    const hostile = await startHostileUpstream(chance);
    const healthy = await startHealthyUpstream();
    const edge = await startEdge(
      { campaign: hostile, organization: healthy },
      { UPSTREAM_TIMEOUT_MS: String(upstreamTimeoutMs) },
    );
    const authorization = `Bearer ${personToken()}`;
    const wrong: string[] = [];
    let tried = 0;
    let slowest = 0;
    let raced = 0;

    async function attempt(fault: number, method: string, { racing = false, timed = true } = {}): Promise<void> {
      const answer = hostileAnswers[fault] as HostileAnswer;
      const outcome = await ask(`${edge.url}${path}?fault=${fault}`, method, authorization);
      tried++;
      if (racing && isAs('refused', outcome)) raced++;
      else if (!isAs(answer.ending, outcome)) wrong.push(`${answer.name} (${method}): ${JSON.stringify(outcome)}`);
      if (!timed) return;
      slowest = Math.max(slowest, outcome.ms);
      if (outcome.ms > upstreamTimeoutMs + slackMs)
        wrong.push(`${answer.name} (${method}) took ${outcome.ms.toFixed(0)} ms`);
    }

    async function inSequence(faults: readonly number[]): Promise<void> {
      for (let n = 0; n < 20; n++)
        await attempt(faults[chance.int(0, faults.length - 1)] ?? 0, 'GET', { racing: true });
    }

    const newLoad = () =>
      startLoad({ rate, request: () => ({ url: `${edge.url}/v2/groups`, headers: { authorization } }) });
    /** Without the connections to the healthy upstream, because the size of their pool does not matter. */
    const files = async () => (await edge.openFiles()) - healthy.open();
    const first = newLoad();
    await sleep(500);
    const quiet = await first.stop();
    await sleep(200); // Its connections are closed by then.
    const before = await files();
    const load = newLoad();
    try {
      for (let round = 1; round <= rounds; round++) {
        const kinds = hostileAnswers.flatMap((_, fault) => [() => attempt(fault, 'GET'), () => attempt(fault, 'POST')]);
        await Promise.all(kinds.map((go) => go()));
        // On kept connections, where surplus bytes or the end of one response meet the next request. That request may be
        // refused, but must not be answered with the surplus bytes.
        await Promise.all(Array.from({ length: 8 }, () => inSequence(leavesConnection)));
        if (round % 10 === 0) say(`  ${round} of ${rounds} rounds, ${tried} requests`);
      }
      hostile.peak();
      await Promise.all(Array.from({ length: crowd }, () => attempt(hanging, 'GET', { timed: false })));
      const peak = hostile.peak();
      const disturbed = await load.stop();
      await settled(async () => Math.max((await files()) - before, hostile.open()), 0);
      const after = await files();
      for (const line of wrong.slice(0, 20)) say(`  ${line}`);
      const healthyFailed = Object.keys(disturbed.statuses).some((status) => status !== '200');
      return [
        {
          what: `${hostileAnswers.length} ways of an upstream to fail, GET and POST`,
          tried,
          found: `${wrong.length} answered otherwise or too late, slowest ${slowest.toFixed(0)} ms, ${raced} found a kept connection spoilt or closed (502)`,
          bar: `502 or a cut within ${upstreamTimeoutMs} + ${slackMs} ms`,
          holds: wrong.length === 0,
        },
        {
          what: 'requests at once to an upstream that hangs',
          tried: crowd,
          found: `${peak} in its hands at once`,
          bar: '≥ 400: none waits for another to be given up',
          holds: peak >= 400,
        },
        {
          what: 'open files of the gateway before and after; connections left at the failing upstream',
          tried,
          found: `${before} and ${after}; ${hostile.open()}`,
          bar: 'no more; 0',
          holds: after <= before && hostile.open() === 0,
        },
        {
          what: 'another upstream of the same gateway meanwhile',
          tried: disturbed.latencies.length,
          found: `${statusesText(disturbed)}; p99 ${disturbed.p99.toFixed(1)} ms (quiet ${quiet.p99.toFixed(1)} ms)`,
          bar: 'all 200',
          holds: !healthyFailed && disturbed.latencies.length > 0,
        },
      ];
    } finally {
      await load.stop();
      await edge.stop();
      await hostile.stop();
      await healthy.stop();
    }
  },
};

function isAs(ending: Ending, { status, type, body, complete }: Outcome): boolean {
  const refused = status === 502 && type === 'application/problem+json' && complete;
  const answered = status === 200 && body === wholeBody && complete;
  if (ending === 'refused') return refused;
  if (ending === 'answered') return answered;
  if (ending === 'either') return refused || answered;
  // The client got nothing or the beginning of a response, and saw the connection end.
  return !complete && (status === 200 || status === 0);
}

async function ask(url: string, method: string, authorization: string): Promise<Outcome> {
  const started = performance.now();
  let body = '';
  const [status, type, complete] = await new Promise<[number, string, boolean]>((resolve) => {
    const req = request(url, { method, headers: { authorization }, agent: false }, (res: IncomingMessage) => {
      const end = () => resolve([res.statusCode ?? 0, res.headers['content-type'] ?? '', res.complete]);
      res.on('data', (bytes) => (body += String(bytes)));
      res.on('error', () => {});
      res.once('close', end);
    });
    req.on('error', () => resolve([0, '', false]));
    const timer = setTimeout(() => req.destroy(), clientTimeoutMs);
    req.once('close', () => clearTimeout(timer));
    req.end(method === 'POST' ? '{"name":"Boots"}' : undefined);
  });
  return { status, type, body, complete, ms: performance.now() - started };
}

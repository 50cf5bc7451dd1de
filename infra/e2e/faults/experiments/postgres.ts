import { setTimeout as sleep } from 'node:timers/promises';
import type { Experiment, Finding, Lab } from '../experiment.ts';
import { type Cluster, endings, startCluster } from '../outages/cluster.ts';
import type { Exchange } from '../outages/exchange.ts';
import { newOwner } from '../outages/owner.ts';
import { startEmbedded, startSeparate, type Target } from '../outages/targets.ts';
import { startTraffic, type Traffic } from '../outages/traffic.ts';
import { judge, type Verdict } from '../outages/verdict.ts';

/** In milliseconds. */
const bars = {
  /** From the return of Postgres until every kind of write succeeds, and every request that waited for it has. */
  well: 10_000,
  /** How much longer than a statement a response may take: a second for the server, and two for this machine. */
  slack: 3_000,
};
/** In milliseconds: the timeout of statements, and how long Postgres hangs, which is longer than a response may take. */
const forms = {
  short: { statementTimeout: 1_000, hang: 4_200 },
  long: { statementTimeout: 5_000, hang: 20_000 }, // The default.
};

/** Ends and restarts Postgres in every way, and suspends it, under load. */
export const postgres: Experiment = {
  name: 'postgres',
  rounds: { short: 3, long: 20 },
  async run(lab) {
    const cluster = await startCluster();
    try {
      const found = await shake(await startEmbedded(cluster, formOf(lab).statementTimeout), cluster, lab);
      if (!lab.long || !lab.kafkaBrokers) return found;
      return [...found, ...(await shake(await startSeparate(cluster, lab.kafkaBrokers), cluster, lab))];
    } finally {
      await cluster.remove();
    }
  },
};

const formOf = (lab: Lab) => (lab.long ? forms.long : forms.short);

/** When Postgres went away and when it returned, in terms of performance.now(). */
interface Absence {
  readonly gone: number;
  readonly back: number;
}

interface Round extends Absence {
  /** Milliseconds from then until every kind of write succeeded. */
  readonly well: number;
  /** The exchanges since the previous round. */
  readonly exchanges: readonly Exchange[];
}

async function shake(target: Target, cluster: Cluster, lab: Lab): Promise<Finding[]> {
  let died = 0;
  let stopping = false;
  for (const member of target.members) void member.ended().then(() => !stopping && died++);
  const rounds: { ended: Round[]; hung: Round[] } = { ended: [], hung: [] };
  try {
    let owner = await newOwner(target.url, target.mailDirectory);
    const traffic = startTraffic({ url: target.url, token: () => owner.token, pause: lab.long ? 20 : 40 });
    for (let round = 0; round < lab.rounds; round++) {
      const how = lab.chance.pick(endings);
      const away = lab.chance.int(500, lab.long ? 6_000 : 1_500);
      await sleep(lab.chance.int(100, 600));
      const ended = await outage(target, traffic, async () => {
        await cluster.end(how);
        await sleep(away);
        await cluster.start();
      });
      rounds.ended.push(ended);
      lab.say(`  ${how}, away for ${seconds(away)}: well after ${seconds(ended.well)}`);
      if (round % 4 !== 0) continue;
      const hung = await outage(target, traffic, async () => {
        await cluster.freeze();
        await sleep(formOf(lab).hang);
        cluster.thaw();
      });
      rounds.hung.push(hung);
      lab.say(`  hung: well after ${seconds(hung.well)}`);
      owner = await owner.renew();
    }
    await traffic.stop();
    const { databases } = target;
    const limit = formOf(lab).statementTimeout + bars.slack;
    const verdict = await judge({ databases, acknowledged: traffic.acknowledged, timeoutMs: 20_000, say: lab.say });
    const absences = [...rounds.ended, ...rounds.hung].sort((a, b) => a.back - b.back);
    const found = (what: string, list: readonly Round[]) =>
      finding({ what: `${what}, ${target.name}`, rounds: list, absences, limit, verdict, died });
    return [found('Postgres ended and started again', rounds.ended), found('Postgres hung', rounds.hung)];
  } finally {
    stopping = true;
    await target.stop();
  }
}

/** Breaks Postgres and brings it back, and measures how long the platform takes to recover. */
async function outage(target: Target, traffic: Traffic, breakIt: () => Promise<void>): Promise<Round> {
  const gone = performance.now();
  await breakIt();
  const back = performance.now();
  while (performance.now() - back < 3 * bars.well) {
    const healthy = await fetch(`${target.url}/healthz`).then(
      (answer) => answer.arrayBuffer().then(() => answer.ok),
      () => false,
    );
    if (healthy && (await traffic.tryOnce())) break;
    await sleep(50);
  }
  return { gone, back, well: performance.now() - back, exchanges: traffic.take() };
}

/**
 * The milliseconds of an exchange before and after Postgres returned. One that succeeded may have both: until the return, the
 * platform's timeouts limit its wait; what it takes while Postgres is there is recovery.
 */
function partsOf({ at, ms, outcome }: Exchange, absences: readonly Absence[]): { before: number; after: number } {
  if (outcome !== 'done') return { before: ms, after: 0 };
  const absence = absences.find(({ gone, back }) => at < back && at + ms > gone);
  const before = absence === undefined ? 0 : Math.min(ms, absence.back - at);
  return { before, after: ms - before };
}

interface Found {
  readonly what: string;
  readonly rounds: readonly Round[];
  /** All absences of Postgres, in order. */
  readonly absences: readonly Absence[];
  readonly limit: number;
  readonly verdict: Verdict;
  /** How many processes ended. */
  readonly died: number;
}

function finding({ what, rounds, absences, limit, verdict, died }: Found): Finding {
  const exchanges = rounds.flatMap((round) => round.exchanges);
  const count = (outcome: string) => exchanges.filter((one) => one.outcome === outcome).length;
  const wrong = exchanges.filter(({ outcome }) => outcome !== 'done' && outcome !== 'unavailable');
  const slowest = exchanges.reduce((slow, one) => (one.ms > slow.ms ? one : slow));
  const parts = exchanges.map((one) => partsOf(one, absences));
  const well = Math.max(...rounds.map((round) => round.well), ...parts.map(({ after }) => after));
  const kinds = Object.entries(Object.groupBy(wrong, (one) => `${one.what}: ${one.outcome}`));
  return {
    what,
    tried: rounds.length,
    found: [
      `${count('done')} done, ${count('unavailable')} × 503, ${wrong.length} else`,
      ...kinds.slice(0, 5).map(([kind, list]) => `${list?.length} × ${kind}`),
      `slowest ${seconds(slowest.ms)} (${slowest.what}: ${slowest.outcome}), well after ${seconds(well)} at most`,
      `processes ended ${died}`,
      verdict.text,
    ].join('; '),
    bar: `503 alone, within ${seconds(limit)}; well within ${seconds(bars.well)}; nothing lost`,
    // Without a 503 the outage was not noticed at all, and proves nothing.
    holds:
      wrong.length === 0 &&
      count('unavailable') > 0 &&
      parts.every(({ before }) => before <= limit) &&
      well <= bars.well &&
      verdict.clean &&
      died === 0,
  };
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
